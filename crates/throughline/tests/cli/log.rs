//! T42: at every log level, no secret is in the log, nor in any file except the token's.

use std::fs;
use std::net::TcpStream;

use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message};

use crate::support::Folder;

#[test]
fn not_even_the_finest_log_holds_a_secret() {
    let folder = Folder::new().with_env("THROUGHLINE_LOG", "trace,tungstenite=trace");
    let server = folder.serve();
    let token = fs::read_to_string(folder.file("token")).unwrap();
    assert_eq!(server.status(&token), "200");
    let answer = server.ask("POST /api/v1/auth/exchange", "", &format!("{{\"code\":\"{}\"}}", server.code()));
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let cookie = cookie.split(';').next().unwrap();
    let proof = answer.split_once("{\"proof\":\"").unwrap().1.split('"').next().unwrap();

    let mut request = format!("ws://{}/api/v1/live", server.address()).into_client_request().unwrap();
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    request.headers_mut().insert("origin", server.url.parse().unwrap());
    let (mut socket, _) = tungstenite::client(request, TcpStream::connect(server.address()).unwrap()).unwrap();
    let auth = format!("{{\"id\":\"a\",\"type\":\"auth\",\"proof\":\"{proof}\"}}");
    socket.send(Message::text(auth)).unwrap();
    for kind in ["ack", "hello", "list"] {
        let frame = socket.read().unwrap().into_text().unwrap();
        assert!(frame.contains(&format!("\"type\":\"{kind}\"")), "{frame}");
    }
    let laptop = folder.run(&["token", "new", "laptop"]);
    let laptop = laptop.stdout.trim_end().to_owned();
    let code = server.code().to_owned();
    drop(socket);
    server.stop();

    let log = folder.log();
    assert!(log.contains("stopping"), "nothing was logged: {log}");
    let cookie = cookie.split_once('=').unwrap().1;
    let secrets = [("token", token.as_str()), ("cookie", cookie), ("proof", proof), ("code", &code), ("new", &laptop)];
    for (what, secret) in secrets {
        assert!(secret.len() >= 32, "the {what} is {secret:?}");
        let found = log.lines().find(|line| line.contains(secret));
        assert_eq!(found, None, "the {what} is in the log");
        let copies = folder.copies().into_keys();
        let files = fs::read_dir(folder.data()).unwrap().map(|entry| entry.unwrap().path());
        for path in files.filter(|path| path.is_file()).chain(copies) {
            let holds = fs::read(&path).unwrap().windows(secret.len()).any(|window| window == secret.as_bytes());
            assert_eq!(holds, what == "token" && path.ends_with("token"), "the {what} and {}", path.display());
        }
    }
}
