//! Zip files: the list of what is in them and one file after the other, stored or deflated, as annotation
//! tools write them.
//!
//! Only what they need: no encryption, no ZIP64, no splitting.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::read::DeflateDecoder;
use flate2::{Crc, CrcReader};

use crate::error::{Error, Result};

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

/// Bytes of the record at the end, without its comment, and with the longest one.
const END_SIZE: u64 = 22;
const LONGEST_END: u64 = END_SIZE + u16::MAX as u64;

/// Most files in an archive.
const MAX_ENTRIES: usize = 10_000;

/// A file in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its path in the archive.
    pub name: String,
    deflated: bool,
    packed: u64,
    crc: u32,
    offset: u64,
}

/// An archive that is read.
pub(crate) struct Archive {
    file: File,
    /// The files in it, without folders.
    pub entries: Vec<Entry>,
}

fn broken(what: &str) -> crate::Error {
    Error::syntax(format!("the zip file is damaged ({what}); get it again"))
}

fn number(bytes: &[u8], place: usize, length: usize) -> u64 {
    let bytes = bytes.get(place..place + length).unwrap_or_default();
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Whether a file starts as a zip file does.
pub(crate) fn is_zip(path: &Path) -> bool {
    let mut start = [0; 4];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut start))
        .is_ok()
        && start == LOCAL
}

impl Archive {
    /// Opens an archive and reads its list.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let tail_size = size.min(LONGEST_END);
        file.seek(SeekFrom::Start(size - tail_size))?;
        let mut tail = Vec::new();
        (&file).take(tail_size).read_to_end(&mut tail)?;
        let end = (0..tail.len().saturating_sub(END_SIZE as usize - 1))
            .rev()
            .find(|&place| tail[place..].starts_with(&END))
            .ok_or_else(|| broken("its list is missing: cut short?"))?;
        let (count, list_size, list_start) = (
            number(&tail, end + 10, 2),
            number(&tail, end + 12, 4),
            number(&tail, end + 16, 4),
        );
        if count as usize > MAX_ENTRIES || list_start + list_size > size {
            return Err(broken("its list is out of bounds"));
        }
        file.seek(SeekFrom::Start(list_start))?;
        let mut list = Vec::new();
        (&file).take(list_size).read_to_end(&mut list)?;
        let entries = read_list(&list, count as usize)?;
        Ok(Self { file, entries })
    }

    /// The unpacked bytes of a file; a wrong checksum is an error when all of it was read.
    pub(crate) fn read(&mut self, entry: &Entry) -> Result<impl Read + '_> {
        let mut head = [0; 30];
        self.file.seek(SeekFrom::Start(entry.offset))?;
        self.file
            .read_exact(&mut head)
            .map_err(|_| broken("a file is missing"))?;
        if !head.starts_with(&LOCAL) {
            return Err(broken("a file is not where the list says"));
        }
        let skipped = number(&head, 26, 2) + number(&head, 28, 2);
        self.file.seek(SeekFrom::Current(skipped as i64))?;
        let packed = BufReader::new((&self.file).take(entry.packed));
        let unpacked: Box<dyn Read + '_> = if entry.deflated {
            Box::new(DeflateDecoder::new(packed))
        } else {
            Box::new(packed)
        };
        Ok(Checked {
            input: CrcReader::new(unpacked),
            crc: entry.crc,
        })
    }
}

fn read_list(list: &[u8], count: usize) -> Result<Vec<Entry>> {
    let (mut entries, mut place) = (Vec::new(), 0);
    for _ in 0..count {
        let head = list.get(place..).unwrap_or_default();
        if head.len() < 46 || !head.starts_with(&CENTRAL) {
            return Err(broken("its list is cut short"));
        }
        let (flags, method) = (number(head, 8, 2), number(head, 10, 2));
        let length = number(head, 28, 2) as usize;
        let name = head
            .get(46..46 + length)
            .ok_or_else(|| broken("a name is cut short"))?;
        let name = String::from_utf8_lossy(name).into_owned();
        place += 46 + length + (number(head, 30, 2) + number(head, 32, 2)) as usize;
        if name.ends_with('/') {
            continue;
        }
        if flags & 1 == 1 || ![0, 8].contains(&method) {
            let problem =
                format!("{name:?} in the zip file is packed in a way that is not read here; unpack it first");
            return Err(Error::syntax(problem));
        }
        entries.push(Entry {
            name,
            deflated: method == 8,
            packed: number(head, 20, 4),
            crc: number(head, 16, 4) as u32,
            offset: number(head, 42, 4),
        });
    }
    Ok(entries)
}

/// Compares the checksum at the end.
struct Checked<R> {
    input: CrcReader<R>,
    crc: u32,
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        if count == 0 && !buffer.is_empty() && self.input.crc().sum() != self.crc {
            let problem = "the zip file is damaged (wrong checksum); get it again";
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        Ok(count)
    }
}

/// Writes an archive of files, stored as they are.
pub(crate) fn write(output: &mut dyn Write, files: &[(String, Vec<u8>)]) -> Result<()> {
    let (mut list, mut offset) = (Vec::new(), 0u64);
    let fits = |size: usize| {
        u32::try_from(size).map_err(|_| Error::syntax("a file in a zip file has to be below 4 GiB"))
    };
    for (name, content) in files {
        let mut crc = Crc::new();
        crc.update(content);
        let size = fits(content.len())?;
        // Version, flags (names are UTF-8), stored, no time, checksum, packed and unpacked size, length of
        // the name.
        let mut head = vec![20, 0, 0, 8, 0, 0, 0, 0, 33, 0];
        head.extend(crc.sum().to_le_bytes());
        head.extend(size.to_le_bytes());
        head.extend(size.to_le_bytes());
        head.extend((name.len() as u16).to_le_bytes());
        head.extend([0, 0]);
        list.extend(CENTRAL);
        list.extend([20, 0]);
        list.extend(&head);
        list.extend([0; 10]);
        list.extend(fits(offset as usize)?.to_le_bytes());
        list.extend(name.as_bytes());
        output.write_all(&LOCAL)?;
        output.write_all(&head)?;
        output.write_all(name.as_bytes())?;
        output.write_all(content)?;
        offset += (LOCAL.len() + head.len() + name.len() + content.len()) as u64;
    }
    output.write_all(&list)?;
    let count = (files.len() as u16).to_le_bytes();
    let mut end = END.to_vec();
    end.extend([0; 4]);
    end.extend(count);
    end.extend(count);
    end.extend(fits(list.len())?.to_le_bytes());
    end.extend(fits(offset as usize)?.to_le_bytes());
    end.extend([0, 0]);
    Ok(output.write_all(&end)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<(String, Vec<u8>)> {
        vec![
            ("ann.jsonl".into(), b"{}\n".repeat(100)),
            ("a/b.txt".into(), Vec::new()),
        ]
    }

    fn archive(change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<(String, io::Result<Vec<u8>>)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        let mut bytes = Vec::new();
        write(&mut bytes, &files()).unwrap();
        change(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let mut archive = Archive::open(&path)?;
        let entries = archive.entries.clone();
        entries
            .into_iter()
            .map(|entry| {
                let mut content = Vec::new();
                let read = archive.read(&entry)?.read_to_end(&mut content);
                Ok((entry.name, read.map(|_| content)))
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let read: Vec<(String, Vec<u8>)> = archive(|_| {})
            .unwrap()
            .into_iter()
            .map(|(name, content)| (name, content.unwrap()))
            .collect();
        assert_eq!(read, files());
    }

    #[test]
    fn damage_is_an_error() {
        assert!(archive(|bytes| bytes.truncate(bytes.len() - 30)).is_err());
        assert!(archive(|bytes| bytes.truncate(3)).is_err());
        let changed = archive(|bytes| bytes[50] ^= 1).unwrap();
        assert!(
            changed[0]
                .1
                .as_ref()
                .unwrap_err()
                .to_string()
                .contains("checksum")
        );
    }
}
