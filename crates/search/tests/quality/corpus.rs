//! The sessions of the text files beside this one, and the noise around them.
//!
//! `=== name | project | agent | day | title` begins a session, `> ` a turn with its prompt, `$ command | files | exit` a call
//! with its output on the lines after it, `< ` the answer; `? ` separates what people type who look for that turn.

use model::{Seq, SessionId, Timestamp, Turn};
use search::{CallOutcome, Piece, PieceRole, SessionAttributes};

/// 2026-05-10.
pub(crate) const NOW_MS: i64 = 1_778_371_200_000;
const FILES: [&str; 5] = [
    include_str!("rust.txt"),
    include_str!("web.txt"),
    include_str!("ops.txt"),
    include_str!("data.txt"),
    include_str!("docs.txt"),
];
/// How many turns of noise.
const NOISE: usize = 420;

#[derive(Default)]
pub(crate) struct Corpus {
    pub(crate) pieces: Vec<(Piece, SessionAttributes)>,
    /// What is typed, and the turn that is meant.
    pub(crate) labels: Vec<(String, SessionId, Turn)>,
    sessions: Vec<(SessionId, SessionAttributes, i64, u32)>,
}

impl Corpus {
    pub(crate) fn read() -> Self {
        let mut corpus = Self::default();
        for line in FILES.iter().flat_map(|file| file.lines()).filter(|line| !line.is_empty()) {
            corpus.line(line);
        }
        corpus.noise();
        corpus
    }

    pub(crate) fn turns(&self) -> usize {
        self.pieces.iter().filter(|(piece, _)| piece.role == PieceRole::Prompt).count()
    }

    fn line(&mut self, line: &str) {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        match mark {
            "===" => {
                let fields: Vec<&str> = rest.split('|').map(str::trim).collect();
                let day: Timestamp = serde_json::from_str(&format!("\"{}T09:00:00Z\"", fields[3])).expect("a day");
                let mut id = [0; 16];
                id[0] = u8::try_from(self.sessions.len() + 1).expect("few sessions");
                let about = SessionAttributes { project: fields[1].to_owned(), agent: fields[2].to_owned() };
                self.sessions.push((SessionId::from_bytes(id), about, day.as_millis(), 0));
                self.add(Turn(0), PieceRole::Title, fields[4].to_owned());
            }
            ">" => {
                let turn = self.session().3 + 1;
                self.session().3 = turn;
                self.add(Turn(turn), PieceRole::Prompt, rest.to_owned());
            }
            "$" => {
                let fields: Vec<&str> = rest.split(" | ").map(str::trim).collect();
                let files = fields.get(1).copied().unwrap_or_default().trim_matches('|').trim();
                let exit: i32 = fields[fields.len() - 1].trim_matches('|').trim().parse().expect("an exit code");
                let turn = Turn(self.session().3);
                let piece = self.add(turn, PieceRole::Tool, format!("{}\n{files}", fields[0]));
                piece.files = files.split_whitespace().map(str::to_owned).collect();
                piece.tool = Some(fields[0].split(' ').next().unwrap_or_default().to_owned());
                piece.outcome = Some(if exit == 0 { CallOutcome::Ok } else { CallOutcome::Fail });
                piece.exit = Some(exit);
            }
            "<" => {
                let turn = Turn(self.session().3);
                self.add(turn, PieceRole::Answer, rest.to_owned());
            }
            "?" => {
                let (session, _, _, turn) = *self.session();
                let typed = rest.split(" ? ").map(|typed| (typed.trim().to_owned(), session, Turn(turn)));
                self.labels.extend(typed);
            }
            _ => {
                let (last, _) = self.pieces.last_mut().expect("output follows a call");
                assert_eq!(last.role, PieceRole::Tool, "{line}");
                last.text.push('\n');
                last.text.push_str(line);
            }
        }
    }

    fn session(&mut self) -> &mut (SessionId, SessionAttributes, i64, u32) {
        self.sessions.last_mut().expect("a session comes first")
    }

    fn add(&mut self, turn: Turn, role: PieceRole, text: String) -> &mut Piece {
        let number = self.sessions.len() - 1;
        self.add_to(number, turn, role, text)
    }

    fn add_to(&mut self, number: usize, turn: Turn, role: PieceRole, text: String) -> &mut Piece {
        let (session, about, at, _) = self.sessions[number].clone();
        let piece = Piece {
            session,
            turn,
            role,
            number: 0,
            first_seq: Seq(1),
            last_seq: Seq(2),
            at: Timestamp::from_millis(at + i64::from(turn.0) * 60_000),
            text,
            tool: None,
            files: Vec::new(),
            outcome: None,
            exit: None,
        };
        self.pieces.push((piece, about));
        &mut self.pieces.last_mut().expect("just added").0
    }

    /// Turns that use the words of all the others, and are what nobody looks for.
    fn noise(&mut self) {
        let vocabulary: Vec<String> = self
            .pieces
            .iter()
            .flat_map(|(piece, _)| piece.text.split_whitespace())
            // What is only there once is seldom said again by chance.
            .filter(|word| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase()))
            .map(str::to_owned)
            .collect();
        let mut random = fastrand::Rng::with_seed(42);
        for _ in 0..NOISE {
            let mut words = |count: usize| {
                let words: Vec<&str> =
                    (0..count).map(|_| vocabulary[random.usize(..vocabulary.len())].as_str()).collect();
                words.join(" ")
            };
            let asked = [
                "please go on",
                "run the tests again and tell me what fails",
                "commit this with a good message",
                "what is left to do here",
                "read the file once more, I changed it",
                "undo the last edit",
                "can you also have a look at this",
                "explain the last change in two sentences",
            ];
            let prompt = format!("{}: {}", asked[words(1).len() % asked.len()], words(5));
            let output = words(70);
            let answer = format!("I looked at it. {} That is all for now; nothing else had to be changed.", words(22));
            let number = random.usize(..self.sessions.len());
            self.sessions[number].3 += 1;
            let turn = Turn(self.sessions[number].3);
            self.add_to(number, turn, PieceRole::Prompt, prompt);
            self.add_to(number, turn, PieceRole::Tool, format!("read_file\n{output}"));
            self.add_to(number, turn, PieceRole::Answer, answer);
        }
    }
}
