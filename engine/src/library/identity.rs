//! Reducer that passes every record unchanged.

use crate::operator::{Groups, Out, Reducer};
use yunti_base::Result;

/// Reducer that passes every record unchanged.
pub struct IdentityReducer;

impl Reducer for IdentityReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            for v in groups.range(i) {
                out.emit(groups.key(i), groups.value(v))?;
            }
        }
        Ok(())
    }
}
