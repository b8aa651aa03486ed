//! What is planned for what people ask for. What is built of it is tested with servers.

use super::*;

const OWN: &str = "version = 1\n[provider.mine]\napi = \"openai_chat\"\nbase = \"http://127.0.0.1:1\"\n\
                   [[model]]\nprovider = \"mine\"\nid = \"only\"\ncontext = 5\n";

fn plan(choice: &ProviderChoice) -> Result<ProviderPlan, String> {
    let catalog = ModelCatalog::built_in().with_file(OWN).unwrap();
    choice.plan(&Arc::new(catalog)).map_err(|error| error.to_string())
}

fn choice(provider: &str, model: &str, usual: &str) -> ProviderChoice {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    ProviderChoice {
        provider: some(provider).map(|text| text.parse().unwrap()),
        model: some(model),
        defaults: ChoiceDefaults { model: some(usual), ..ChoiceDefaults::default() },
        ..ProviderChoice::default()
    }
}

#[test]
fn the_model_is_the_one_that_is_meant() {
    for (provider, model, usual, found) in [
        ("", "gpt-5", "", "openai/gpt-5"),
        ("", "gpt-5", "mine/only", "openai/gpt-5"),
        ("", "", "mine/only", "mine/only"),
        ("openai", "gpt-5", "mine/only", "openai/gpt-5"),
        ("openai", "openai/gpt-5", "", "openai/gpt-5"),
        ("openai", "", "openai/gpt-4o", "openai/gpt-4o"),
        ("openrouter", "openai/gpt-5", "", "openrouter/openai/gpt-5"),
        ("mine", "", "", "mine/only"),
        ("mine", "", "openai/gpt-4o", "mine/only"),
        ("scripted:a.toml", "", "openai/gpt-4o", "scripted/scripted"),
        ("scripted:a.toml", "gpt-4o", "", "openai/gpt-4o"),
        ("scripted:a.toml", "made-up", "", "scripted/made-up"),
        ("replay:a.jsonl", "mine/only", "openai/gpt-4o", "mine/only"),
    ] {
        let planned = plan(&choice(provider, model, usual)).unwrap();
        assert_eq!(planned.model.full_name(), found, "{provider} {model} {usual}");
    }
    assert_eq!(plan(&choice("mine", "", "")).unwrap().model.context, Some(5));
    let source = plan(&choice("", "", "mine/only")).unwrap().source;
    assert_eq!(source, ProviderSource::Catalog("mine".into()));
}

#[test]
fn what_is_not_meant_by_anything_is_told() {
    for (provider, model, usual, said) in [
        ("", "", "", "no model is named; name one as PROVIDER/MODEL"),
        ("", "gpt-5-mimi", "", "did you mean gpt-5-mini"),
        ("", "", "gpt-5-mimi", "did you mean gpt-5-mini"),
        ("opnai", "gpt-5", "", "did you mean openai"),
        ("openai", "gpt-5-mimi", "", "did you mean gpt-5-mini"),
        ("openai", "", "mine/only", "no model of openai is named; name one, such as openai/"),
        ("ollama", "", "", "no model of ollama is named"),
        ("replay:a.jsonl", "", "openai/gpt-4o", "the record cannot be replayed: a.jsonl"),
    ] {
        let error = plan(&choice(provider, model, usual)).unwrap_err();
        assert!(error.contains(said), "{provider} {model} {usual}: {error}");
    }
    for wrong in ["scripted:", "replay:"] {
        assert!(wrong.parse::<ProviderSource>().is_err(), "{wrong}");
    }
}

#[test]
fn others_answer_where_that_is_wanted() {
    let names = |choice: &ProviderChoice| {
        let planned = plan(choice).unwrap();
        planned.failover.iter().map(ModelInfo::full_name).collect::<Vec<_>>()
    };
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let mut usual = choice("", "mine/only", "");
    usual.defaults.failover = list(&["gpt-5", "mine/only", "openai/gpt-5", "ollama/x"]);
    assert_eq!(names(&usual), ["openai/gpt-5", "ollama/x"]);
    let asked = ProviderChoice { failover: Some(list(&["gpt-4o"])), ..usual.clone() };
    assert_eq!(names(&asked), ["openai/gpt-4o"]);
    let nobody = ProviderChoice { failover: Some(Vec::new()), ..usual.clone() };
    assert!(names(&nobody).is_empty());
    for source in ["scripted:a.toml", "replay:a.jsonl"] {
        let provider = Some(source.parse().unwrap());
        let same_each_time = ProviderChoice { provider: provider.clone(), ..usual.clone() };
        assert!(names(&same_each_time).is_empty(), "{source}");
        let asked = ProviderChoice { provider, ..asked.clone() };
        assert_eq!(names(&asked), ["openai/gpt-4o"], "{source}");
    }
    let wrong = ProviderChoice { failover: Some(list(&["gpt-4"])), ..usual };
    assert!(plan(&wrong).unwrap_err().contains("did you mean"));
}

#[test]
fn attempts_are_those_that_were_asked_for() {
    let mut asked = choice("", "mine/only", "");
    let attempts = |choice: &ProviderChoice| plan(choice).unwrap().attempts;
    assert_eq!(attempts(&asked), RetryPolicy::default().attempts);
    asked.defaults.attempts = Some(7);
    assert_eq!(attempts(&asked), 7);
    asked.attempts = Some(2);
    assert_eq!(attempts(&asked), 2);
    asked.attempts = Some(0);
    assert_eq!(attempts(&asked), 1);
}

#[test]
fn scripts_and_records_go_without_servers() {
    for source in ["scripted:a.toml", "replay:a.jsonl"] {
        let choice = choice(source, "mine/only", "");
        let base = Some("http://127.0.0.1:1".to_owned());
        let error = plan(&ProviderChoice { base, ..choice.clone() }).unwrap_err();
        assert!(error.contains("has no base address"), "{error}");
        let record = Some("new".into());
        let error = plan(&ProviderChoice { record, ..choice }).unwrap_err();
        assert!(error.contains("asks nobody"), "{error}");
    }
}
