//! What the compiler says to whoever uses the attribute wrongly. The macro fails before it names anything of `offshoot-tool`, so that
//! these cases need nothing compiled but the macro.

#[test]
fn mistakes_are_told_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/mistakes/*.rs");
}
