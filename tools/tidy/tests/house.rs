//! The checkout follows the rules of the house.

use std::path::Path;

use yunti_tidy::RULES;
use yunti_tidy::tree::checkout;

#[test]
fn the_house_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = checkout(&root);
    assert!(tree.0.contains_key("ARCHITECTURE.md") && tree.rust().count() > 50, "this is not the checkout");
    let complaints: Vec<String> =
        RULES.iter().flat_map(|(name, rule)| rule(&tree).into_iter().map(move |c| format!("{name}: {c}"))).collect();
    assert!(complaints.is_empty(), "{} complaints\n{}\n", complaints.len(), complaints.join("\n"));
}
