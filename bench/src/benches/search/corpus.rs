//! Texts with the shape of transcripts (few words are frequent and many are rare, with identifiers among them), and
//! the queries for them.

use fastrand::Rng;
use model::{Seq, SessionId, Timestamp, Turn};
use search::{Piece, PieceRole, SessionAttributes};

const WORDS: usize = 60_000;
const IDENTIFIERS: usize = 80_000;
/// The words of a piece: about 1.15 kB.
const LENGTH: u64 = 155;
const TURNS_OF_A_SESSION: usize = 100;
/// How many queries a class has.
const QUERIES: usize = 20;

pub(super) struct Corpus {
    texts: Vec<String>,
    vocabulary: Vec<String>,
    about: SessionAttributes,
}

impl Corpus {
    pub(super) fn new(pieces: usize) -> Self {
        let mut random = Rng::with_seed(7);
        let vocabulary = vocabulary(&mut random);
        // The n-th word has a frequency of 1/n.
        let mut sums = Vec::with_capacity(vocabulary.len());
        let mut sum = 0.0;
        for rank in 1..=vocabulary.len() {
            sum += 1.0 / rank as f64;
            sums.push(sum);
        }
        let mut texts = Vec::with_capacity(pieces);
        for number in 0..pieces {
            let mut text = String::new();
            for _ in 0..LENGTH / 2 + random.u64(..LENGTH) {
                let at = random.f64() * sum;
                let word = sums.partition_point(|upto| *upto < at).min(vocabulary.len() - 1);
                text.push_str(&vocabulary[word]);
                text.push(if random.u32(..12) == 0 { '\n' } else { ' ' });
            }
            text.push_str(&unique(number));
            texts.push(text);
        }
        let about = SessionAttributes { project: "/home/bench".to_owned(), agent: "bench".to_owned() };
        Self { texts, vocabulary, about }
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }

    pub(super) fn text(&self, number: usize) -> &str {
        &self.texts[number]
    }

    pub(super) fn about(&self) -> &SessionAttributes {
        &self.about
    }

    pub(super) fn piece(&self, number: usize) -> Piece {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&((number / TURNS_OF_A_SESSION) as u64).to_be_bytes());
        Piece {
            session: SessionId::from_bytes(id),
            turn: Turn((number % TURNS_OF_A_SESSION) as u32 + 1),
            role: [PieceRole::Prompt, PieceRole::Answer, PieceRole::Tool, PieceRole::Tool][number % 4],
            number: 0,
            // Identifies the text.
            first_seq: Seq(number as u64),
            last_seq: Seq(number as u64),
            at: Timestamp::from_millis(number as i64 * 1_000),
            text: self.texts[number].clone(),
            tool: None,
            files: Vec::new(),
            outcome: None,
            exit: None,
        }
    }
}

/// An id that occurs once.
fn unique(number: usize) -> String {
    format!("id{:09x}", Rng::with_seed(number as u64).u64(..1 << 36))
}

fn vocabulary(random: &mut Rng) -> Vec<String> {
    const SYLLABLES: [&str; 24] = [
        "ba", "ce", "di", "fo", "gu", "ha", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "xa", "ye", "zi",
        "tor", "men", "lis", "kan", "ped", "stu",
    ];
    let mut word = |least: usize| {
        let syllables = least + random.usize(..3);
        (0..syllables).map(|_| SYLLABLES[random.usize(..SYLLABLES.len())]).collect::<String>()
    };
    let mut all = Vec::with_capacity(WORDS + IDENTIFIERS);
    for number in 0..WORDS + IDENTIFIERS {
        all.push(match number % 7 {
            0..=2 => word(2),
            3 => format!("{}_{}", word(1), word(2)),
            4 => format!("{}{}", word(2), capital(&word(2))),
            5 => format!("{}::{}", word(1), capital(&word(2))),
            _ => format!("src/{}/{}.rs", word(1), word(2)),
        });
    }
    all
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// The queries, by how often their words occur.
pub(super) struct Queries(Vec<(&'static str, Vec<String>)>);

impl Queries {
    pub(super) fn of(corpus: &Corpus) -> Self {
        let plain = |from: usize, count: usize| -> Vec<&String> {
            let words = corpus.vocabulary[from..].iter();
            words.filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())).take(count).collect()
        };
        let phrase = |number: usize| {
            let text = corpus.text(number * 37);
            let words: Vec<&str> = text.split([' ', '\n']).collect();
            let plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
            let pair = words.windows(2).find(|pair| plain(pair[0]) && plain(pair[1]) && pair[0] != pair[1]);
            pair.map(|pair| format!("\"{} {}\"", pair[0], pair[1]))
        };
        let spaced = |words: Vec<&String>| words.into_iter().map(|word| format!("{word} ")).collect::<Vec<_>>();
        let common = spaced(plain(0, QUERIES));
        let mid = spaced(plain(1_000, QUERIES));
        let pairs = plain(60, QUERIES).into_iter().zip(plain(200, QUERIES)).map(|(a, b)| format!("{a} {b} "));
        Self(vec![
            ("very common word", common),
            ("word in the middle", mid),
            ("rare id", (0..QUERIES).map(|number| format!("{} ", unique(number * 101))).collect()),
            ("two words", pairs.collect()),
            ("phrase", (0..).filter_map(phrase).take(QUERIES).collect()),
            ("beginning of a word", plain(3_000, QUERIES).into_iter().map(|word| word[..4].to_owned()).collect()),
        ])
    }

    pub(super) fn classes(&self) -> impl Iterator<Item = (&'static str, &Vec<String>)> {
        self.0.iter().map(|(class, typed)| (*class, typed))
    }
}
