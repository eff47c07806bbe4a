//! What the environment says about a run.

pub fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|text| !text.is_empty())
}

pub fn number(name: &str, default: usize) -> usize {
    let given = setting(name);
    given.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number"))
    })
}
