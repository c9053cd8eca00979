//! Brace expansion: `{a,b}` and `{1..3}` become several words before anything else happens to them.

use super::expand::Piece;

/// Largest number of words that one word may become.
pub(super) const MAX_WORDS: usize = 1024;

/// Largest number of braces of one word, and of characters in the words that it becomes.
const MAX_BRACES: u32 = 12;
const MAX_UNITS: usize = 1 << 18;

/// One unit of a word: a character that may mean something, or a piece that cannot.
#[derive(Debug, Clone)]
enum Unit {
    Char(char),
    Piece(Piece),
}

/// The words that a word becomes; `None` when there are too many.
pub(super) fn expand(pieces: Vec<Piece>) -> Option<Vec<Vec<Piece>>> {
    if pieces.iter().map(|piece| piece.text.len()).sum::<usize>() > MAX_UNITS / 16 {
        return None;
    }
    let units = units(pieces);
    let words = alternatives(&units, 0)?;
    Some(words.into_iter().map(pieces_of).collect())
}

/// Returns true if a word may have something to expand.
pub(super) fn has_braces(pieces: &[Piece]) -> bool {
    let plain = |piece: &&Piece| piece.is_plain();
    pieces.iter().filter(plain).any(|piece| piece.text.contains('{'))
        && pieces.iter().filter(plain).any(|piece| piece.text.contains('}'))
}

fn units(pieces: Vec<Piece>) -> Vec<Unit> {
    let mut units = Vec::new();
    for piece in pieces {
        if piece.is_plain() {
            units.extend(piece.text.chars().map(Unit::Char));
        } else {
            units.push(Unit::Piece(piece));
        }
    }
    units
}

fn pieces_of(units: Vec<Unit>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for unit in units {
        match (unit, pieces.last_mut()) {
            (Unit::Char(c), Some(last)) if last.is_plain() => last.text.push(c),
            (Unit::Char(c), _) => pieces.push(Piece::plain(c)),
            (Unit::Piece(piece), _) => pieces.push(piece),
        }
    }
    pieces
}

/// Everything that a row of units can become.
fn alternatives(units: &[Unit], depth: u32) -> Option<Vec<Vec<Unit>>> {
    let Some((open, close, parts)) = first_brace(units) else { return Some(vec![units.to_vec()]) };
    if depth > MAX_BRACES {
        return None;
    }
    let mut middles = Vec::new();
    for part in parts {
        middles.extend(alternatives(&part, depth + 1)?);
    }
    let rests = alternatives(units.get(close + 1..).unwrap_or_default(), depth + 1)?;
    let words = middles.len().checked_mul(rests.len())?;
    if words > MAX_WORDS || words.checked_mul(units.len())? > MAX_UNITS {
        return None;
    }
    let head = units.get(..open).unwrap_or_default();
    let mut words = Vec::with_capacity(middles.len() * rests.len());
    for middle in &middles {
        words.extend(rests.iter().map(|rest| [head, middle, rest].concat()));
    }
    Some(words)
}

type Found = (usize, usize, Vec<Vec<Unit>>);

/// The first brace that expands: where it opens and closes, and what stands between the commas.
fn first_brace(units: &[Unit]) -> Option<Found> {
    let mut stack: Vec<(usize, Vec<usize>)> = Vec::new();
    let mut best: Option<Found> = None;
    for (at, unit) in units.iter().enumerate() {
        match unit {
            Unit::Char('{') => stack.push((at, Vec::new())),
            Unit::Char(',') => {
                if let Some((_, commas)) = stack.last_mut() {
                    commas.push(at);
                }
            }
            Unit::Char('}') => {
                let Some((open, commas)) = stack.pop() else { continue };
                if let Some(parts) = parts(units, open, at, &commas)
                    && best.as_ref().is_none_or(|found| open < found.0)
                {
                    best = Some((open, at, parts));
                }
                if stack.is_empty() && best.is_some() {
                    return best;
                }
            }
            _ => {}
        }
    }
    best
}

fn parts(units: &[Unit], open: usize, close: usize, commas: &[usize]) -> Option<Vec<Vec<Unit>>> {
    if commas.is_empty() {
        return range(units.get(open + 1..close)?);
    }
    let starts = std::iter::once(open).chain(commas.iter().copied());
    let ends = commas.iter().copied().chain([close]);
    starts.zip(ends).map(|(start, end)| units.get(start + 1..end).map(<[Unit]>::to_vec)).collect()
}

/// `1..3`, `a..e`
fn range(units: &[Unit]) -> Option<Vec<Vec<Unit>>> {
    let text = units
        .iter()
        .map(|unit| if let Unit::Char(c) = unit { Some(*c) } else { None })
        .collect::<Option<String>>()?;
    let mut ends = text.splitn(3, "..");
    let (first, last) = (ends.next()?, ends.next()?);
    let word = |text: String| text.chars().map(Unit::Char).collect::<Vec<_>>();
    if let (Ok(first), Ok(last)) = (first.parse::<i64>(), last.parse::<i64>()) {
        let (low, high) = (first.min(last), first.max(last));
        // The rest of a long row of numbers is more of the same.
        return Some((low..=high).take(MAX_WORDS / 4).map(|n| word(n.to_string())).collect());
    }
    let (mut a, mut b) = (first.chars(), last.chars());
    let (Some(low), None, Some(high), None) = (a.next(), a.next(), b.next(), b.next()) else { return None };
    if !low.is_ascii() || !high.is_ascii() {
        return None;
    }
    Some((low.min(high)..=low.max(high)).map(|c| vec![Unit::Char(c)]).collect())
}
