//! Counts of the allocator, in a process of their own: every test here counts what all of it allocates, so
//! there is one.

use quorate_machine::memory::{allocated, check_room, set_limit};

#[global_allocator]
static MEMORY: quorate_machine::HugePages = quorate_machine::HugePages;

#[test]
fn blocks_are_counted_and_what_would_be_too_much_is_refused() {
    let before = allocated();
    let mut large = vec![1u8; 40 << 20];
    let near = |expected: u64| assert!(allocated().abs_diff(before + expected) < 1 << 20, "{expected}");
    near(40 << 20);
    large.reserve_exact(20 << 20);
    near(60 << 20);
    large.truncate(3 << 20);
    large.shrink_to_fit();
    near(3 << 20);
    let small: Vec<Box<[u8; 100]>> = (0..200_000).map(|_| Box::new([1; 100])).collect();
    // A pointer, and a block that the allocator rounds up.
    near((3 << 20) + 200_000 * (8 + 112));
    std::thread::scope(|scope| {
        scope.spawn(|| drop(small));
    });
    drop(large);
    near(0);
    assert_eq!(check_room(u64::MAX - 1), Ok(()));
    set_limit(1 << 30);
    assert_eq!(check_room(1 << 29), Ok(()));
    let refused = check_room(1 << 31).unwrap_err();
    assert!(refused.needed >= 1 << 31 && refused.limit == 1 << 30);
    let mut block: Vec<u8> = Vec::new();
    assert!(block.try_reserve_exact(isize::MAX as usize - (1 << 22)).is_err());
    near(0);
}
