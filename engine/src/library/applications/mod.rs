//! Classes of the applications (docs/guide/applications.md). They use only interfaces that a user's class has too.

mod columns;
mod distinct;
mod grep;
mod inverted_index;
pub mod join;
mod k_means;
mod page_rank;
mod sample;
mod selected;
mod top;
mod word_lengths;

pub use columns::CountColumn;
pub use distinct::{Distinct, DistinctReducer};
pub use grep::{Grep, Matches};
pub use inverted_index::{DistinctValues, InvertedIndex};
pub use join::{HashJoin, Join, JoinReducer, KeyedLines, LookupRows, OneSide, SideRows, shared_table_mapper};
pub use k_means::{KMeans, KMeansReducer};
pub use page_rank::{PageRank, PageRankCombiner, PageRankReducer};
pub use sample::Sample;
pub use top::{First, Top};
pub use word_lengths::WordLengths;
