//! Changes that a command can make to the objects of its repository: none of them makes an answer.

use std::io::Write as _;
use std::os::unix::fs::symlink;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::layouts::{fifo, pack_file};
use super::*;
use crate::ObjectFormat;

/// Longer than any question about a small repository may take, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn loose_object(kind: &str, content: &[u8]) -> Vec<u8> {
    compressed(&[format!("{kind} {}\0", content.len()).as_bytes(), content].concat())
}

fn replace(path: &Path, content: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, content).unwrap();
}

/// A repository with one commit of `.envrc`, and another one, which no trusted name leads to, with other content.
struct Attack {
    sandbox: Sandbox,
    good: ObjectId,
    good_tree: ObjectId,
    evil: ObjectId,
    evil_tree: ObjectId,
}

impl Attack {
    fn new() -> Self {
        let mut sandbox = Sandbox::new();
        let good = sandbox.commit(".envrc", "good\n");
        let evil = sandbox.commit(".envrc", "evil\n");
        sandbox.git(&["reset", "-q", "--hard", "HEAD~"]);
        let (good_tree, evil_tree) =
            (sandbox.id(&format!("{good}^{{tree}}")), sandbox.id(&format!("{evil}^{{tree}}")));
        Self { sandbox, good, good_tree, evil, evil_tree }
    }

    fn path(&self, id: ObjectId) -> PathBuf {
        self.sandbox.loose(id)
    }

    /// The answers for the content that was there and for the one that was not.
    fn ask(&self) -> [Answer; 2] {
        let mut history = self.sandbox.history_of([self.good]);
        let start = Instant::now();
        let until = start + PATIENCE;
        let answers = [b"good\n", b"evil\n"].map(|content| history.had(b".envrc", content, until));
        history.new_commits(&BTreeSet::from([self.evil]), 10, |_| true, until);
        assert!(start.elapsed() < PATIENCE);
        answers
    }
}

type Act = fn(&Attack);

#[test]
fn objects_that_were_replaced_answer_nothing() {
    let nothing = [Answer::No, Answer::No];
    let rows: [(&str, Act, [Answer; 2]); 15] = [
        ("untouched", |_| {}, [YES, Answer::No]),
        (
            "the commit is another one",
            |a| replace(&a.path(a.good), &fs::read(a.path(a.evil)).unwrap()),
            nothing,
        ),
        (
            "the tree is another one",
            |a| replace(&a.path(a.good_tree), &fs::read(a.path(a.evil_tree)).unwrap()),
            nothing,
        ),
        (
            "the tree is a commit",
            |a| replace(&a.path(a.good_tree), &fs::read(a.path(a.good)).unwrap()),
            nothing,
        ),
        (
            "the tree has an absurd entry",
            |a| replace(&a.path(a.good_tree), &loose_object("tree", b"100644 \0")),
            nothing,
        ),
        (
            "the commit has no end",
            |a| replace(&a.path(a.good), &fs::read(a.path(a.good)).unwrap()[..20]),
            nothing,
        ),
        ("the commit is empty", |a| replace(&a.path(a.good), b""), nothing),
        ("the commit is not compressed", |a| replace(&a.path(a.good), b"commit 5\0tree "), nothing),
        ("the size is another one", |a| replace(&a.path(a.good), &compressed(b"commit 4\0tree x")), nothing),
        (
            "the size is too large",
            |a| replace(&a.path(a.good), &compressed(b"commit 99999999999999999999\0")),
            nothing,
        ),
        ("it grows", |a| replace(&a.path(a.good), &compressed(&vec![b'x'; 64 << 20])), nothing),
        (
            "the file has holes",
            |a| {
                fs::remove_file(a.path(a.good)).unwrap();
                fs::File::create(a.path(a.good)).unwrap().set_len(1 << 40).unwrap();
            },
            nothing,
        ),
        (
            "the file is a pipe",
            |a| {
                fs::remove_file(a.path(a.good)).unwrap();
                fifo(&a.path(a.good));
            },
            nothing,
        ),
        (
            "the file is a link",
            |a| {
                let other = a.sandbox.top.join("other");
                fs::rename(a.path(a.good), &other).unwrap();
                symlink(other, a.path(a.good)).unwrap();
            },
            nothing,
        ),
        (
            "the directory is a link",
            |a| {
                let (directory, other) =
                    (a.path(a.good).parent().unwrap().to_owned(), a.sandbox.top.join("other"));
                fs::rename(&directory, &other).unwrap();
                symlink(other, directory).unwrap();
            },
            nothing,
        ),
    ];
    for (what, act, expected) in rows {
        let attack = Attack::new();
        act(&attack);
        assert_eq!(attack.ask(), expected, "{what}");
    }
}

#[test]
fn a_blob_that_is_another_one_is_not_asked() {
    let attack = Attack::new();
    let blob = |content| id_of(ObjectFormat::Sha1, ObjectKind::Blob, content).unwrap();
    replace(&attack.path(blob(b"good\n")), &fs::read(attack.path(blob(b"evil\n"))).unwrap());
    assert_eq!(attack.ask(), [YES, Answer::No]);
}

#[test]
fn packs_with_any_byte_changed_answer_nothing_wrong() {
    let mut attack = Attack::new();
    for number in 0..12 {
        attack.good = attack.sandbox.commit("b", &number.to_string().repeat(30));
    }
    attack.sandbox.git(&["repack", "-q", "-adf", "--depth=50"]);
    for ending in ["pack", "idx"] {
        let path = pack_file(&attack.sandbox, ending);
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            replace(&path, &changed);
            assert_eq!(attack.ask()[1], Answer::No, "{ending} {at}");
        }
        for length in (0..bytes.len()).step_by(97) {
            replace(&path, &bytes[..length]);
            assert_eq!(attack.ask()[1], Answer::No, "{ending} {length}");
        }
        replace(&path, &bytes);
    }
    assert_eq!(attack.ask(), [YES, Answer::No]);
}

#[test]
fn objects_swapped_by_the_index_answer_nothing() {
    let mut attack = Attack::new();
    attack.sandbox.git(&["branch", "evil", &attack.evil.to_string()]);
    attack.sandbox.git(&["repack", "-q", "-adf"]);
    assert_eq!(attack.ask(), [YES, Answer::No]);
    let path = pack_file(&attack.sandbox, "idx");
    let mut bytes = fs::read(&path).unwrap();
    let count = usize::try_from(u32::from_be_bytes(bytes[8 + 1020..8 + 1024].try_into().unwrap())).unwrap();
    let offsets = 8 + 1024 + count * 24;
    let row =
        |id: ObjectId| bytes[1032..].chunks(20).position(|name| name == id.as_bytes()).unwrap() * 4 + offsets;
    let (good, evil) = (row(attack.good), row(attack.evil));
    bytes.copy_within(evil..evil + 4, good);
    replace(&path, &bytes);
    assert_eq!(attack.ask(), [Answer::No, Answer::No]);
}

/// An object of a pack: its kind, the base of a delta by name, and what is compressed.
type Row<'a> = (ObjectId, u8, Option<ObjectId>, &'a [u8]);

/// Writes a pack with an index that names objects at will.
fn write_pack(sandbox: &Sandbox, rows: &[Row<'_>]) {
    let mut pack = b"PACK\0\0\0\x02\0\0\0\x01".to_vec();
    let mut names: Vec<(ObjectId, u32)> = Vec::new();
    for (id, kind, base, content) in rows {
        names.push((*id, u32::try_from(pack.len()).unwrap()));
        let mut size = content.len() >> 4;
        pack.push(kind << 4 | u8::try_from(content.len() & 15).unwrap() | if size > 0 { 0x80 } else { 0 });
        while size > 0 {
            pack.push(u8::try_from(size & 0x7f).unwrap() | if size >> 7 > 0 { 0x80 } else { 0 });
            size >>= 7;
        }
        pack.extend(base.iter().flat_map(ObjectId::as_bytes));
        pack.extend(compressed(content));
    }
    names.sort_unstable();
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for byte in 0..=255 {
        let total = names.iter().filter(|(id, _)| id.as_bytes()[0] <= byte).count();
        index.extend(u32::try_from(total).unwrap().to_be_bytes());
    }
    index.extend(names.iter().flat_map(|(id, _)| id.as_bytes()));
    index.extend(vec![0; names.len() * 4]);
    index.extend(names.iter().flat_map(|(_, offset)| offset.to_be_bytes()));
    let directory = sandbox.git_dir().join("objects/pack");
    fs::write(directory.join("pack-x.pack"), pack).unwrap();
    fs::write(directory.join("pack-x.idx"), index).unwrap();
}

fn name(number: usize) -> ObjectId {
    ObjectFormat::Sha1.hash(&[&number.to_le_bytes()]).unwrap()
}

/// Takes the whole base, whose size is `size` of less than 128.
fn same(size: usize) -> Vec<u8> {
    let size = u8::try_from(size).unwrap();
    vec![size, size, 0x90, size]
}

#[test]
fn chains_of_deltas_end() {
    let commit = b"tree 1111111111111111111111111111111111111111\n\nx";
    let id = id_of(ObjectFormat::Sha1, ObjectKind::Commit, commit).unwrap();
    let copy = same(commit.len());
    for (what, length, end, expected) in [
        ("a chain that ends", 50, Some(&commit[..]), Reach::Yes),
        ("a chain of the greatest length", 4094, Some(&commit[..]), Reach::Yes),
        ("a chain that is too long", 4097, Some(&commit[..]), Reach::No),
        (
            "a chain that ends in another object",
            50,
            Some(&b"tree 2111111111111111111111111111111111111111\n\nx"[..]),
            Reach::No,
        ),
        ("a chain that leads back", 50, None, Reach::No),
    ] {
        let sandbox = Sandbox::new();
        let mut rows: Vec<Row<'_>> = vec![(id, 7, Some(name(0)), &copy)];
        rows.extend((0..length).map(|number| (name(number), 7, Some(name(number + 1)), &copy[..])));
        match end {
            Some(end) => rows.push((name(length), 1, None, end)),
            None => rows.push((name(length), 7, Some(id), &copy)),
        }
        write_pack(&sandbox, &rows);
        let start = Instant::now();
        assert_eq!(sandbox.history_of([id]).reaches(id, start + PATIENCE), expected, "{what}");
        assert!(start.elapsed() < PATIENCE, "{what}");
    }
}

#[test]
fn deltas_that_make_much_of_little_end() {
    let sandbox = Sandbox::new();
    let base = vec![b'x'; 4 << 20];
    // Sizes in groups of seven bits, then pieces of 65,536 bytes.
    let mut copy: Vec<u8> = [0x80, 0x80, 0x80, 0x02].repeat(2);
    copy.extend([0x80].repeat(64));
    let length = 2000;
    let mut rows: Vec<Row<'_>> =
        (0..length).map(|number| (name(number), 7, Some(name(number + 1)), &copy[..])).collect();
    rows.push((name(length), 2, None, &base));
    write_pack(&sandbox, &rows);
    let start = Instant::now();
    assert_eq!(sandbox.history_of([name(0)]).reaches(name(0), start + PATIENCE), Reach::No);
    assert!(start.elapsed() < PATIENCE);
}

#[test]
fn the_directory_of_objects_is_not_a_link() {
    let attack = Attack::new();
    let (objects, other) = (attack.sandbox.git_dir().join("objects"), attack.sandbox.top.join("other"));
    fs::rename(&objects, &other).unwrap();
    symlink(other, objects).unwrap();
    assert!(History::new(&open(&attack.sandbox.git_dir()), [attack.good], BTreeSet::new()).is_err());
}
