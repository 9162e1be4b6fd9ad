//! The applets that come with the program, as `applets/bundled/` holds them.
//!
//! Invariant: they are applets like any other and may do nothing more. One of the person's with the same slug takes its place.

use std::sync::LazyLock;

use model::{AppletName, AppletSlug};

use super::{Applet, AppletAbout, AppletContent, ListedApplet};

macro_rules! bundled {
    ($($slug:literal),+ $(,)?) => {
        /// Slug, meta.json, content.html, script.js, style.css.
        const FILES: [(&str, [&str; 4]); [$($slug),+].len()] = [$((
            $slug,
            [
                include_str!(concat!("../../../../applets/bundled/", $slug, "/meta.json")),
                include_str!(concat!("../../../../applets/bundled/", $slug, "/content.html")),
                include_str!(concat!("../../../../applets/bundled/", $slug, "/script.js")),
                include_str!(concat!("../../../../applets/bundled/", $slug, "/style.css")),
            ],
        )),+];
    };
}

bundled!("applet-browser", "counter", "file-browser", "git-diff", "git-status", "image-viewer", "plan", "text-editor",);

static ALL: LazyLock<Vec<Applet>> = LazyLock::new(|| {
    let read = |(slug, [about, html, js, css]): &(&str, [&str; 4])| {
        let slug: AppletSlug = slug.parse().expect("it is a slug");
        let about: AppletAbout = serde_json::from_str(about).expect("a test reads each of them");
        let content = AppletContent { html: (*html).to_owned(), js: (*js).to_owned(), css: (*css).to_owned() };
        Applet { name: AppletName::Saved(slug), about, bundled: true, content }
    };
    FILES.iter().map(read).collect()
});

pub(super) fn find(slug: &AppletSlug) -> Option<Applet> {
    ALL.iter().find(|applet| applet.name.slug() == Some(slug)).cloned()
}

pub(super) fn all() -> impl Iterator<Item = ListedApplet> {
    ALL.iter().filter_map(|applet| {
        let slug = applet.name.slug()?.clone();
        Some(ListedApplet { slug, about: applet.about.clone(), bundled: true })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applets::{NewApplet, check};

    #[test]
    fn each_is_what_the_person_could_save() {
        for applet in ALL.iter() {
            check(&NewApplet::from(applet.clone())).unwrap();
            let about = &applet.about;
            assert!(!about.description.is_empty() && about.agent_usage.is_some(), "{}", about.name);
        }
    }
}
