//! Rebuilds the pieces of work from `meta-contexts.json` and the copies of their sessions.
//!
//! Invariant: a session's own `meta.json` says which work it began in; `meta-contexts.json` says what the works are. What
//! the one says and the other does not know is made again from what there is. Nothing here keeps a session from coming
//! back: what does not hold is left out and logged.

use std::collections::{BTreeMap, BTreeSet};

use model::{MAX_PATH_BYTES, Seq, SessionId, Timestamp, WorkEvent, WorkId, work_name};

use crate::Part;
use crate::copies::meta::Meta;
use crate::copies::works::{NoWorks, WorkCopy, Works};

/// What a session says of the work it began in.
pub(super) struct Member {
    session: SessionId,
    began_at: Timestamp,
    project: String,
    work: WorkId,
    name: Option<String>,
}

impl Member {
    pub(super) fn of(meta: &Meta) -> Option<Self> {
        let work = meta.meta_context.as_ref()?;
        Some(Self {
            session: meta.id,
            began_at: meta.created_at,
            project: meta.project.clone(),
            work: work.id,
            name: work.name.clone(),
        })
    }
}

/// The entries of the `work` stream, and how many works they make.
pub(super) fn regroup(listed: Result<Works, NoWorks>, members: Vec<Member>) -> (Part, usize) {
    let listed = listed.unwrap_or_else(|why| {
        if !members.is_empty() {
            tracing::warn!(%why, "meta-contexts.json is of no use; meta-contexts are made again from what sessions say");
        }
        Works::default()
    });
    let mut groups: BTreeMap<WorkId, Vec<Member>> = BTreeMap::new();
    for member in members {
        groups.entry(member.work).or_default().push(member);
    }
    let mut taken = Taken::default();
    // One without a session is nobody's, and takes no name from those that are somebody's.
    let listed = listed.contexts.into_iter().filter(|work| groups.contains_key(&work.id));
    let mut works: Vec<WorkCopy> = listed.filter(|work| taken.take(work)).collect();
    for (id, members) in &groups {
        let is_lost = !taken.ids.contains(id);
        works.extend(made_again(*id, members).filter(|work| is_lost && taken.take(work)));
    }
    works.sort_by_key(|work| (work.created_at, work.id));
    works.iter_mut().for_each(|work| taken.take_older_names(work));

    let mut part = Part::begin_works(Seq::START);
    let count = works.len();
    for work in works {
        let mut members = groups.remove(&work.id).unwrap_or_default();
        members.sort_by_key(|member| member.session);
        push_work(&mut part, work, &members);
    }
    (part.into_any(), count)
}

/// What is taken already.
#[derive(Default)]
struct Taken {
    ids: BTreeSet<WorkId>,
    names: BTreeSet<(String, String)>,
}

impl Taken {
    /// Whether the work comes back, under the name that it has.
    fn take(&mut self, work: &WorkCopy) -> bool {
        let is_project = work.project.starts_with('/') && work.project.len() <= MAX_PATH_BYTES;
        let is_sound = is_project && is_name(&work.name) && !self.ids.contains(&work.id);
        if !is_sound || !self.names.insert((work.project.clone(), work.name.clone())) {
            let (id, name) = (work.id, &work.name);
            tracing::warn!(%id, name, "a meta-context did not come back: it is no sound one, or there is another like it");
            return false;
        }
        self.ids.insert(work.id)
    }

    /// Leaves it the names that nobody else has by now.
    fn take_older_names(&mut self, work: &mut WorkCopy) {
        let (project, own) = (&work.project, &work.name);
        let names = &mut self.names;
        work.names.retain(|name| name != own && is_name(name) && names.insert((project.clone(), name.clone())));
    }
}

fn is_name(name: &str) -> bool {
    work_name(name).as_deref() == Some(name)
}

/// A work of which only its sessions know. The newest of them that names it knows its name best.
fn made_again(id: WorkId, members: &[Member]) -> Option<WorkCopy> {
    let named = members.iter().filter_map(|member| Some((member.session, member, member.name.clone()?)));
    let (_, member, name) = named.max_by_key(|(session, ..)| *session)?;
    Some(WorkCopy {
        id,
        name,
        project: member.project.clone(),
        session_ids: Vec::new(),
        names: Vec::new(),
        created_at: members.iter().map(|member| member.began_at).min()?,
        added_at: members.iter().map(|member| member.began_at).max()?,
    })
}

/// The names it had come first, so that the one it has is the one it is left with.
fn push_work(part: &mut Part<WorkEvent>, copy: WorkCopy, members: &[Member]) {
    let WorkCopy { id: work, name, project, names, created_at, added_at, session_ids: _ } = copy;
    let mut names = names.into_iter().chain([name]);
    if let Some(name) = names.next() {
        part.push(WorkEvent::WorkCreated { work, project: project.clone(), name }, created_at);
    }
    for name in names {
        part.push(WorkEvent::WorkRenamed { work, project: project.clone(), name }, created_at);
    }
    for (n, member) in (1..).zip(members) {
        let at = if n == members.len() { added_at } else { member.began_at };
        part.push(WorkEvent::WorkSessionAdded { work, session: member.session }, at);
    }
}
