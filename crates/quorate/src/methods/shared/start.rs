//! Where methods on a table in memory start.

use crate::blocks::Passes;
use crate::methods::vote_fractions;
use crate::model::{Consensus, find_first};
use crate::{Annotations, Context, Result};

/// The first posteriors: the votes, weighed by how the workers did on known tasks where there are such.
pub fn starting_votes(annotations: &Annotations, context: &mut Context) -> Result<Consensus> {
    if !annotations.has_gold() {
        return Ok(context.run(|| vote_fractions(annotations)));
    }
    let mut blocks = annotations;
    let mut passes = Passes::over(&mut blocks);
    find_first(false, &mut passes, context)?;
    Ok(Consensus::new(annotations.class_count(), passes.into_rows()))
}
