//! Finds the words of a line that show its topic.
//!
//! Invariant: forms of one word are one term (`caching`, `cache`; `parseUrl`, `parse_url`), in any script.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::sentence::is_wide;
use super::vocabulary::{STOP_WORDS, WORK_WORDS};

/// The terms of a line that distinguish its topic, with the times each occurs. Words of all programming work are left
/// out.
pub(super) fn topic_terms(line: &str) -> BTreeMap<String, usize> {
    let mut terms = BTreeMap::new();
    for word in content_words(line) {
        if !is_work_word(&word) {
            *terms.entry(stem(&word)).or_default() += 1;
        }
    }
    terms
}

/// How many words say something, words of all programming work included.
pub(super) fn content_count(line: &str) -> usize {
    content_words(line).len()
}

/// Lower-case words without punctuation, whole.
pub(super) fn bare_words(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                ',' | '.' | '!' | '?' | ';' | ':' | '，' | '。' | '！' | '？' | '、' | '：' | '；' | '/' | '(' | ')'
            )
    })
    .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'"))
    .filter(|word| !word.is_empty())
}

fn content_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for token in line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’'))) {
        if token.is_empty() {
            continue;
        }
        if token.chars().any(is_wide) {
            words.extend(unspaced(token));
            continue;
        }
        let whole = token.to_lowercase().replace('’', "'");
        if is_stop(&whole) {
            continue;
        }
        words.extend(humps(token).into_iter().filter(|word| says_something(word)));
    }
    words
}

/// `parseHTTPUrl` → parse, http, url.
fn humps(token: &str) -> Vec<String> {
    let chars: Vec<char> = token.chars().collect();
    let mut parts = Vec::new();
    let mut part = String::new();
    for (at, c) in chars.iter().copied().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let after = chars.get(at + 1);
        let begins = c.is_uppercase()
            && (before.is_some_and(char::is_lowercase)
                || before.is_some_and(char::is_uppercase) && after.is_some_and(|after| after.is_lowercase()));
        if begins && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        part.extend(c.to_lowercase());
    }
    parts.push(part);
    // `iOS`, `GraphQL`, `OAuth2`: a hump of one or two letters is no word, so the name stays whole.
    if parts.iter().any(|part| part.chars().count() < 3) { vec![token.to_lowercase()] } else { parts }
}

fn says_something(word: &str) -> bool {
    word.chars().count() >= 2
        && word.chars().any(char::is_alphabetic)
        && !is_stop(word)
        && !matches!(
            word,
            "rs" | "py"
                | "js"
                | "ts"
                | "tsx"
                | "jsx"
                | "md"
                | "go"
                | "java"
                | "rb"
                | "cs"
                | "cpp"
                | "hpp"
                | "json"
                | "yml"
                | "yaml"
                | "toml"
                | "txt"
                | "html"
                | "src"
                | "lib"
                | "com"
                | "org"
                | "www"
                | "http"
                | "https"
                | "ve"
                | "re"
                | "ll"
        )
}

pub(super) fn is_stop(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

fn is_work_word(word: &str) -> bool {
    static STEMS: LazyLock<BTreeSet<String>> = LazyLock::new(|| WORK_WORDS.iter().map(|word| stem(word)).collect());
    if word.chars().any(is_wide) { UNSPACED_WORK.contains(&word) } else { STEMS.contains(&stem(word)) }
}

/// Pairs of neighbouring signs, without those that hold grammar together.
fn unspaced(token: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in token.split(|c: char| !is_wide(c) || is_grammar(c)) {
        let signs: Vec<char> = run.chars().collect();
        match signs.as_slice() {
            [] | [_] => {}
            signs => words.extend(signs.windows(2).map(|pair| pair.iter().collect::<String>())),
        }
    }
    words.extend(token.split(is_wide).map(str::to_lowercase).filter(|word| says_something(word)));
    words
}

/// Hiragana, and the Chinese signs that every sentence uses.
fn is_grammar(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309f}' | '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}')
        || "的了是在我你他她它们吗吧呢和就都把被这那请帮一个不也要有没什么怎如何能可以让给到或但还再很更最些"
            .contains(c)
}

/// Pairs that every topic of programming uses.
const UNSPACED_WORK: &[&str] = &[
    "修复", "添加", "增加", "修改", "问题", "错误", "文件", "代码", "测试", "实现", "使用", "检查", "运行", "函数",
    "需要", "现在", "追加", "修正", "変更", "作成", "確認", "実装", "関数", "追加", "実行", "問題", "数据", "功能",
    "删除", "写一", "解释", "优化", "更新", "方法", "エラ", "ラー", "テス", "スト", "ファ", "ァイ", "イル", "コー",
    "ード",
];

/// A crude stem that is the same for most forms of a word in European languages.
fn stem(word: &str) -> String {
    if word.chars().any(|c| is_wide(c) || c.is_numeric()) {
        return word.to_owned();
    }
    let word = word.strip_suffix("'s").unwrap_or(word);
    let mut stem = word;
    let long = |stem: &str, least: usize| stem.chars().count() >= least;
    if let Some(shorter) = stem.strip_suffix("ies").filter(|shorter| long(shorter, 3)) {
        return truncated(&format!("{shorter}y"));
    }
    if let Some(shorter) = stem.strip_suffix('s').filter(|s| long(s, 3) && !s.ends_with(['s', 'u', 'i'])) {
        stem = shorter;
    }
    for ending in ["ing", "ed", "er", "ly"] {
        if let Some(shorter) = stem.strip_suffix(ending).filter(|shorter| long(shorter, 3)) {
            stem = shorter;
            let mut back = stem.chars().rev();
            if let (Some(one), Some(two)) = (back.next(), back.next())
                && one == two
                && !matches!(one, 'l' | 's' | 'z')
                && long(stem, 4)
            {
                stem = &stem[..stem.len() - one.len_utf8()];
            }
            break;
        }
    }
    if let Some(shorter) = stem.strip_suffix('e').filter(|shorter| long(shorter, 3)) {
        stem = shorter;
    }
    truncated(stem)
}

/// Long words differ at their ends: `migrate`, `migration`.
fn truncated(stem: &str) -> String {
    if stem.chars().count() >= 8 { stem.chars().take(6).collect() } else { stem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(line: &str) -> Vec<String> {
        topic_terms(line).into_keys().collect()
    }

    #[test]
    fn a_line_is_told_by_its_topic() {
        assert_eq!(terms("Please fix the caching in parseUrl of src/cache.rs"), ["cach", "pars", "url"]);
        assert_eq!(terms("migrate the invoices"), terms("invoice migration"));
        assert_eq!(terms("修复登录页面的样式问题"), ["复登", "式问", "录页", "样式", "登录", "页面"]);
        assert_eq!(terms("ok, continue"), [""; 0]);
        assert_eq!(terms("Run the tests again"), [""; 0]);
        assert_eq!(terms("OAuth2 and GraphQL on iOS"), ["graphql", "ios", "oauth2"]);
    }
}
