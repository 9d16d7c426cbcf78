//! Linear algebra that only these methods need.

pub(crate) mod lbfgs;
pub(crate) mod simplex;
pub(crate) mod successive_projection;
pub(crate) mod tensor_power;
