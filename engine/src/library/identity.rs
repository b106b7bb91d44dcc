//! The reducer that passes every record on as it is.

use crate::operator::{Groups, Out, Reducer};
use yunti_base::Result;

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
