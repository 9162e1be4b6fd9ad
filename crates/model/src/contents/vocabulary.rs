//! The words that say nothing about a topic, by the way they are used. Lists only; lower case, straight apostrophes.
//!
//! They are text, parted by commas, because a list of strings takes a line for each.

use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Words or phrases.
pub(super) type Phrases = LazyLock<BTreeSet<&'static str>>;

fn phrases(text: &'static str) -> BTreeSet<&'static str> {
    text.split([',', '\n']).map(str::trim).filter(|phrase| !phrase.is_empty()).collect()
}

/// Opening words by which a prompt asks for something; they go wherever a word ends after them.
pub(super) static REQUEST_OPENINGS: Phrases = LazyLock::new(|| {
    phrases(
        "
    please, pls, plz, kindly, can you, could you, would you, will you, can we, could we, can i ask you to,
    please can you, please could you, help me, help me to, help me with, help us, i want you to, i'd like you to,
    i would like you to, i need you to, i want to, i want, i'd like to, i'd like, i would like to, i would like,
    i need to, i need, i need help with, i need some help with, i'm trying to, i am trying to, we need to, we need,
    we want to, we want, we should, you should, let's, lets, let us, go ahead and, be so kind and,
    i was wondering if you could, i was wondering if, would it be possible to, is it possible to,
    is there a way to, do you think you could, would you mind, feel free to, your task is to, the task is to,
    also please, also can you, also could you, bitte, kannst du, kannst du bitte, könntest du, könntest du bitte,
    können sie, können sie bitte, könnten sie, könnten sie bitte, ich möchte, ich möchte dass du, ich brauche,
    wir brauchen, hilf mir, hilf mir bei, hilf mir bitte, lass uns, por favor, puedes, podrías, podrias, me puedes,
    me podrías, quiero que, necesito que, necesito, quiero, ayúdame a, ayudame a, você pode, pode, poderia,
    preciso, preciso de, s'il te plaît, s'il vous plaît, peux-tu, pourrais-tu, pouvez-vous, pourriez-vous,
    est-ce que tu peux, je voudrais, je veux, j'aimerais, aide-moi à, il faut, il faudrait, пожалуйста, можешь,
    ты можешь, помоги, давай, нужно
",
    )
});

/// Other opening words of a prompt that go wherever a word ends after them.
pub(super) static PROMPT_OPENINGS: Phrases = LazyLock::new(|| {
    phrases(
        "
    hi, hi there, hi claude, hello, hello there, hey, hey there, hey claude, good morning, ok so, okay so, ok,
    okay, so, now, ok now, and, and now, and then, and also, also, then, but, but now, just, maybe, maybe just,
    next up, btw, by the way, oh and, one more thing, if it isn't too much trouble, quick question,
    another question, new task, next task, different topic, new topic, unrelated, switching topics, hm, hmm, hallo,
    guten morgen, guten tag, jetzt, und jetzt, und, dann, anderes thema, neues thema, nächstes thema, hola, ahora,
    y, otro tema, otra cosa, olá, agora, outro assunto, buenos días, buenas, bonjour, salut, maintenant, et,
    autre sujet, привет, теперь, другая тема
",
    )
});

/// Opening words of a prompt that go only before a comma, a full stop or the like: alone they may be a name's beginning.
pub(super) static PROMPT_ASIDES: Phrases = LazyLock::new(|| {
    phrases(
        "
    hope you're doing well, wonderful, fantastic, amazing, brilliant, you're amazing, you rock, awesome work,
    thank you so much, yes, yeah, yep, yup, no, nope, sure, right, alright, great, perfect, nice, cool, awesome,
    excellent, good, fine, thanks, thank you, thanks a lot, many thanks, thx, hmm, hm, um, well, wait, sorry,
    actually, next, first, ok great, ok cool, ok thanks, ok thank you, great thanks, perfect thanks, that works,
    that worked, works, works now, it works, it works now, looks good, looks great, sounds good, lgtm, good job,
    well done, nice work, great work, good catch, i see, makes sense, got it, agreed, exactly, correct,
    interesting, merged, done, quick one, hope you're well, hope you are well, i have a question, i have a problem,
    claude, there, team, that's better, much better, better, love it, awesome thanks, cool thanks, yes please,
    fair enough, ja, nein, danke, super, gut, genau, passt, okay danke, klasse, sehr gut, vielen dank, sí, si,
    gracias, muchas gracias, perfecto, genial, vale, bien, merci, parfait, oui, d'accord, obrigado, ótimo, спасибо,
    хорошо, отлично, да, 你好, 您好, 好的, 好, 请问, 谢谢, 麻烦你, 嗯, 很好, 可以, 对, 是的, 太好了, 完美, こんにちは, すみません, ありがとう, ありがとうございます,
    はい, お疲れ様です, 了解, 了解です, いいですね, 完璧です, 안녕하세요, 네
",
    )
});

/// Openings in scripts without spaces, which nothing has to follow.
pub(super) static UNSPACED_OPENINGS: Phrases = LazyLock::new(|| {
    phrases(
        "
    请帮我, 请你, 请帮忙, 请, 帮我, 帮忙, 能不能, 能否, 可以帮我, 你能, 你可以, 麻烦, 我想要, 我想, 我要, 我需要, 我们需要, 现在, 接下来, 然后, 那么, 另外, では, 次に, それでは,
    じゃあ, ちなみに
",
    )
});

/// Opening words of an answer that go wherever a word ends after them.
pub(super) static ANSWER_OPENINGS: Phrases = LazyLock::new(|| {
    phrases(
        "
    i'll, i will, i'll now, i'm going to, i am going to, let me, let's, let us, now let me, now i'll, now, first,
    next, ok, okay, here is, here's, here are, this is, i've, i have, i've now, i can, i went ahead and, i just,
    i also, i'd, i would, i'd be happy to, i'm happy to, sure, so, certainly, of course, alright, looks like,
    it looks like, it seems that, it seems, as you can see, first i'll, first let me, we can, you can, hier ist,
    hier sind, ich habe, ich werde, lass mich, aquí está, aquí tienes, he, voy a, voici, je vais, j'ai
",
    )
});

/// Opening words of an answer that go before a comma, a full stop or the like.
pub(super) static ANSWER_ASIDES: Phrases = LazyLock::new(|| {
    phrases(
        "
    you're welcome, you are welcome, my pleasure, de nada, gern geschehen, de rien, 不客气, どういたしまして, sure,
    sure thing, certainly, of course, absolutely, definitely, great, great question, good question,
    excellent question, great idea, good idea, good catch, nice catch, good point, great point, yes, no, yep,
    right, you're right, you are right, you're absolutely right, that's right, correct, exactly, done, all done,
    all set, ok, okay, alright, got it, understood, thanks, thank you, no problem, happy to help, my apologies,
    i apologize, apologies, sorry, perfect, excellent, makes sense, finished, fixed, welcome back, hello, hi,
    hi there, hey, hello there, thanks for sharing, thanks for the details, thanks for the context, good news,
    success, sounds good, will do, on it, klar, gerne, natürlich, alles klar, erledigt, fertig, gute frage, ja,
    nein, claro, por supuesto, listo, hecho, sí, perfecto, bien sûr, d'accord, c'est fait, voilà, конечно, готово,
    好的, 好, 当然, 没问题, 明白, 明白了, 完成, 已完成, 是的, 很好, はい, 了解しました, 承知しました, わかりました, もちろんです, 完了しました, はい、完了しました, 네, 알겠습니다
",
    )
});

/// What an agent says before it looks somewhere: it tells what it does, not what it is about.
pub(super) static LOOKING_VERBS: Phrases = LazyLock::new(|| {
    phrases(
        "
    look, check, read, see, start, begin, take, examine, explore, search, find, inspect, review, investigate, open,
    analyze, gather, get, verify, understand, first, have, continue, do, help, now, go, work, think, try, run,
    know, walk
",
    )
});

/// Headings of an answer that would fit any answer.
pub(super) static COMMON_HEADINGS: Phrases = LazyLock::new(|| {
    phrases(
        "
    summary, overview, analysis, plan, the plan, changes, changes made, what changed, what i changed, what i did,
    result, results, answer, short answer, solution, the fix, fix, root cause, cause, explanation, tl;dr, tldr,
    details, next steps, notes, findings, background, context, problem, the problem, zusammenfassung, ergebnis,
    resumen, résumé, 总结, 概要, 结果, まとめ, 結果, task, goal, description, steps to reproduce, expected behavior,
    actual behavior, environment, error, logs
",
    )
});

/// Words of a line that only says "go on" or picks what was offered.
pub(super) static FOLLOW_UP_WORDS: Phrases = LazyLock::new(|| {
    phrases(
        "
    enough, skip, makes, sense, making, be, lovely, wonderful, fantastic, amazing, brilliant, mind, that's, it's,
    you're, everything, kindly, lot, many, also, very, too, yet, apply, implement, those, these, we, how, about,
    suggested, suggestion, suggestions, bau, baue, ein, einbauen, umsetzen, setz, um, wir, yes, yeah, yep, yup, y,
    n, no, nope, ok, okay, k, kk, sure, please, pls, do, it, that, this, them, go, ahead, on, for, continue,
    proceed, keep, going, again, retry, try, sounds, looks, good, great, perfect, fine, nice, cool, awesome,
    excellent, thanks, thank, thx, you, ty, correct, right, agreed, exactly, lgtm, ship, first, second, third,
    last, one, two, three, option, choose, pick, both, all, of, the, a, b, c, and, then, so, now, next, step,
    steps, works, worked, done, same, with, let's, lets, start, more, yes!, i, agree, approve, approved, merge,
    commit, push, begin, resume, finish, rest, well, as, is, stop, wait, hmm, hm, what, else, any, anything, hi,
    hello, hey, there, my, me, to, in, just, up, much, better, love, can, could, would, change, changes, make, ja,
    nein, weiter, mach, machen, mal, das, es, gut, genau, bitte, danke, passt, los, gerne, klar, jetzt, alles,
    noch, sehr, sieht, aus, nächster, schritt, super, vielen, dank, den, sí, si, continúa, continua, sigue,
    adelante, vale, perfecto, gracias, muchas, por, favor, hazlo, hola, bien, muy, eso, está, siguiente, paso,
    dale, oui, non, vas-y, d'accord, parfait, merci, continuez, sim, não, obrigado, pode, isso, да, нет, продолжай,
    дальше, хорошо, спасибо, давай, 继续, 好的, 好, 是, 是的, 可以, 对, 谢谢, 行, 嗯, 没问题, 下一步, 继续吧, 可以的, 好的继续, 请继续, 就这样, 开始吧, 开始,
    はい, いいえ, お願いします, 続けて, 続けてください, ありがとう, ありがとうございます, 了解, 了解です, それで, それでお願いします, 次へ, いいですね, 進めて, 進めてください, 네, 계속,
    좋아요, 감사합니다, 계속해주세요, 진행해주세요
",
    )
});

/// Words of a sentence that only says how something ended, and not what.
pub(super) static OUTCOME_WORDS: Phrases = LazyLock::new(|| {
    phrases(
        "
    i, i've, it, it's, this, that, the, a, an, all, your, any, no, not, and, with, without, by, in, after, now, did,
    didn't, has, have, had, was, were, is, are, been, command, commands, script, process, program, task, call, tool,
    file, files, edit, edits, change, changes, patch, run, ran, ended, finished, completed, complete, exited,
    succeeded, failed, terminated, stopped, aborted, returned, timed, out, applied, made, saved, written, edited,
    changed, updated, done, exit, exitcode, code, status, return, signal, success, successful, successfully,
    normally, cleanly, error, errors, output, s, ms, sec, secs, second, seconds, minute, minutes, der, die, das, es,
    befehl, wurde, hat, ist, mit, ohne, fehler, erfolgreich, beendet, fehlgeschlagen
",
    )
});

/// Words that every topic uses.
pub(super) static STOP_WORDS: Phrases = LazyLock::new(|| {
    phrases(
        "
    though, continue, enough, anyway, a, about, above, after, again, all, already, also, am, an, and, any, are,
    around, as, at, back, be, because, been, before, being, below, best, better, between, both, but, by, can,
    cannot, could, did, do, does, doing, done, down, during, each, else, etc, even, ever, every, few, first, for,
    from, further, get, gets, getting, give, go, goes, going, good, got, had, has, have, having, he, help, her,
    here, how, i, if, in, instead, into, is, it, its, itself, just, keep, know, last, let, like, little, lot, make,
    many, may, maybe, me, might, more, most, much, must, my, need, needs, next, no, nor, not, nothing, now, of,
    off, ok, okay, on, once, one, only, onto, or, other, others, our, out, over, own, per, please, put, really,
    right, said, same, say, second, see, seems, she, should, since, so, some, something, still, such, sure, take,
    tell, than, thanks, that, the, their, them, then, there, these, they, thing, things, think, this, those, three,
    through, to, together, too, two, under, until, up, us, use, used, uses, using, very, via, want, wants, was,
    way, we, well, were, what, when, where, whether, which, while, who, whole, why, will, with, within, without,
    would, yes, yet, you, your, don't, doesn't, isn't, can't, won't, it's, i'm, that's, let's, i've, we're,
    there's, what's, didn't, aren't, wasn't, shouldn't, you're, cant, dont, vs, eg, ie, e.g, i.e, currently,
    actually, properly, correctly, probably, quickly, today, der, die, das, den, dem, des, ein, eine, einen, einem,
    einer, eines, und, oder, aber, nicht, ist, sind, war, wird, werden, wurde, hat, haben, ich, du, wir, ihr, sie,
    es, mir, mich, uns, mit, von, vom, für, auf, aus, bei, beim, zu, zum, zur, nach, über, unter, durch, wie,
    warum, wenn, dass, weil, auch, noch, nur, schon, mal, bitte, dann, jetzt, kann, kannst, soll, sollte, muss, im,
    ins, als, doch, hier, dort, diese, dieser, dieses, diesen, alle, sich, kein, keine, mehr, sehr, ohne, gibt,
    man, bis, sein, seine, meine, unsere, damit, wieder, statt, gleich, machen, mach, el, la, los, las, un, una,
    unos, unas, y, o, pero, son, está, están, ser, de, del, al, en, con, por, para, que, qué, como, cómo, cuando,
    se, su, sus, mi, te, lo, le, más, muy, ya, también, esta, este, esto, estos, estas, hay, si, sí, sin, sobre,
    desde, hasta, todo, todos, todas, cada, hacer, haz, puedes, quiero, ahora, favor, os, um, uma, e, não, da, dos,
    na, nos, nas, em, com, ao, isso, você, porque, donde, entre, les, et, ou, mais, ne, pas, est, sont, je, tu, il,
    elle, nous, vous, ils, dans, sur, avec, pour, par, qui, ce, cette, ces, mon, ma, mes, sa, ses, plus, aussi,
    comme, faire, fait, être, avoir, au, aux, une, peux, veux, и, в, на, не, что, как, это, с, по, для, из, у, к,
    от, я, ты, мы, он, она, а, но, или, же, бы, все, так, уже, при, надо, нужно, чтобы
",
    )
});

/// Words of all programming work: they help a sentence, and tell no topic from another.
pub(super) static WORK_WORDS: Phrases = LazyLock::new(|| {
    phrases(
        "
    page, add, added, adding, address, allow, app, apply, approach, ask, avoid, big, break, broken, bug, build,
    call, case, change, check, clean, cleanup, code, command, commit, compare, correct, create, current, default,
    delete, describe, detail, different, double, draft, drop, edit, empty, end, error, everything, example, exist,
    existing, expect, explain, extend, extra, fail, failing, failure, fast, feature, file, final, find, fine,
    finish, fix, fixed, folder, follow, full, function, handle, happen, hide, idea, implement, improve, include,
    info, input, issue, item, keep, kind, large, leave, line, list, log, long, look, main, message, method, miss,
    missing, module, move, name, new, note, number, old, open, option, order, output, part, pass, place, plan,
    point, prefer, print, problem, project, proper, push, question, read, ready, real, reason, refactor, remove,
    rename, repo, report, result, return, review, rewrite, run, section, seem, separate, set, shall, short, show,
    side, simple, simplify, single, size, slow, small, split, start, step, stop, summary, summarise, summarize,
    support, switch, talk, task, test, tests, text, time, try, turn, type, understand, update, user, value, verify,
    version, wait, warn, warning, work, wrap, write, wrong, extract, generate, mention, people, path, suggest,
    suggestion, whats, fehler, datei, füge, hinzu, zeig, zeige, schreib, schreibe, erstelle, ändere, neue, neuen,
    neuer, prüfe, funktion, teste, läuft, erkläre, baue, brauche, sollen, archivo, archivos, añade, agrega, crea,
    cambia, nuevo, nueva, prueba, pruebas, función, código, explica, muestra, revisa, fichier, erreur, ajoute,
    corrige, crée, montre, proyecto
",
    )
});
