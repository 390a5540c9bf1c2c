//! The parity of a sealed segment, from which damaged bytes are computed again (Reed-Solomon).
//!
//! The blocks of a segment and its directory, one after the other, are divided into at most 128 parts of equal size;
//! the last is filled up with zeros. There is one packet of parity for every 12 parts, and at least 4. They lie between
//! the blocks and the directory, each a zstd skippable frame, with numbers in little-endian:
//!
//! ```text
//! head      of a skippable frame (8)
//! numbers   which packet this is (4), number of packets (4), bytes of a part (4), of the blocks (8), of the directory (4)
//! sums      CRC-32 of each part (4)
//! parity    as long as a part
//! sum       CRC-32 of everything before (4)
//! ```
//!
//! Every packet has the sums of all parts. So as many damaged parts can be repaired as there are whole packets.

use reed_solomon_simd::engine::Naive;
use reed_solomon_simd::rate::{
    DefaultRateDecoder, DefaultRateEncoder, RateDecoder as _, RateEncoder as _,
};

/// First bytes of a packet.
const MAGIC: [u8; 4] = [0x5E, 0x2A, 0x4D, 0x18];
/// Maximum number of parts of a segment.
const PARTS_MAX: usize = 128;
/// The size of a part is a multiple of this, in bytes.
const PART_STEP: usize = 64;
/// Parts for each packet.
const PARTS_PER_PACKET: usize = 12;
/// Minimum number of packets of a segment.
const PACKETS_MIN: usize = 4;
const HEAD_BYTES: usize = 8;
const NUMBERS_BYTES: usize = 24;
const SUM_BYTES: usize = 4;

/// What the packets of a segment have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Table {
    packets: usize,
    part_bytes: usize,
    blocks: usize,
    directory: usize,
    sums: Vec<u32>,
}

/// The number of a packet and its parity.
type Parity<'a> = (usize, &'a [u8]);

impl Table {
    fn packet_bytes(&self) -> usize {
        HEAD_BYTES + NUMBERS_BYTES + SUM_BYTES * self.sums.len() + self.part_bytes + SUM_BYTES
    }

    /// Where the directory begins.
    fn directory_at(&self) -> usize {
        self.blocks + self.packets * self.packet_bytes()
    }

    fn packet(&self, index: usize, parity: &[u8]) -> Vec<u8> {
        let mut packet = Vec::with_capacity(self.packet_bytes());
        packet.extend_from_slice(&MAGIC);
        packet.extend_from_slice(&((self.packet_bytes() - HEAD_BYTES) as u32).to_le_bytes());
        for number in [index, self.packets, self.part_bytes] {
            packet.extend_from_slice(&(number as u32).to_le_bytes());
        }
        packet.extend_from_slice(&(self.blocks as u64).to_le_bytes());
        packet.extend_from_slice(&(self.directory as u32).to_le_bytes());
        for sum in &self.sums {
            packet.extend_from_slice(&sum.to_le_bytes());
        }
        packet.extend_from_slice(parity);
        let sum = crc32fast::hash(&packet);
        packet.extend_from_slice(&sum.to_le_bytes());
        packet
    }
}

pub(super) fn packets(
    blocks: &[u8],
    directory: &[u8],
) -> Result<Vec<u8>, reed_solomon_simd::Error> {
    let mut row = [blocks, directory].concat();
    let part_bytes = row.len().div_ceil(PARTS_MAX).max(1);
    let part_bytes = part_bytes.next_multiple_of(PART_STEP);
    row.resize(row.len().next_multiple_of(part_bytes), 0);
    let parts = row.chunks_exact(part_bytes);
    let packets = parts.len().div_ceil(PARTS_PER_PACKET).max(PACKETS_MIN);
    let mut encoder = DefaultRateEncoder::new(parts.len(), packets, part_bytes, engine(), None)?;
    for part in parts.clone() {
        encoder.add_original_shard(part)?;
    }
    let table = Table {
        packets,
        part_bytes,
        blocks: blocks.len(),
        directory: directory.len(),
        sums: parts.map(crc32fast::hash).collect(),
    };
    let encoded = encoder.encode()?;
    let parity = encoded.recovery_iter().enumerate();
    let packets = parity.flat_map(|(index, parity)| table.packet(index, parity));
    Ok(packets.collect())
}

/// The others keep tables of 8 MB; this one takes milliseconds for a segment.
fn engine() -> Naive {
    Naive::new()
}

/// What the parity of a segment says about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Examined {
    /// No packet can be read.
    Unprotected,
    Whole,
    Damaged(Repaired),
    /// Too much is damaged.
    Lost {
        parts: usize,
        packets: usize,
    },
}

/// A segment that was computed again.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repaired {
    pub(super) file: Vec<u8>,
    /// How many of its parts and packets were damaged, and how many there are.
    pub(super) damaged: usize,
    pub(super) all: usize,
}

/// Examines the bytes of a segment's file.
pub(super) fn examine(file: &[u8]) -> Examined {
    let Some((table, found)) = whole_packets(file) else {
        return Examined::Unprotected;
    };
    let row = row(file, &table);
    let parts = row.chunks_exact(table.part_bytes);
    let is_whole = |(part, sum): (&[u8], &u32)| crc32fast::hash(part) == *sum;
    let whole: Vec<bool> = parts.clone().zip(&table.sums).map(is_whole).collect();
    let damaged_parts = whole.iter().filter(|whole| !**whole).count();
    let damaged_packets = table.packets - found.len();
    let length = table.directory_at() + table.directory;
    if damaged_parts + damaged_packets == 0 && file.len() == length {
        return Examined::Whole;
    }
    let lost = Examined::Lost {
        parts: damaged_parts,
        packets: damaged_packets,
    };
    if damaged_parts > found.len() {
        return lost;
    }
    match repaired(&table, &row, &whole, &found) {
        Some(file) => Examined::Damaged(Repaired {
            file,
            damaged: damaged_parts + damaged_packets,
            all: table.sums.len() + table.packets,
        }),
        None => lost,
    }
}

/// Computes the damaged parts and returns the whole file.
fn repaired(table: &Table, row: &[u8], whole: &[bool], found: &[Parity<'_>]) -> Option<Vec<u8>> {
    let mut row = row.to_vec();
    if whole.contains(&false) {
        let (parts, packets) = (whole.len(), table.packets);
        let mut decoder =
            DefaultRateDecoder::new(parts, packets, table.part_bytes, engine(), None).ok()?;
        for (index, part) in row.chunks_exact(table.part_bytes).enumerate() {
            if whole[index] {
                decoder.add_original_shard(index, part).ok()?;
            }
        }
        for (index, parity) in found {
            decoder.add_recovery_shard(*index, parity).ok()?;
        }
        let decoded = decoder.decode().ok()?;
        for (index, part) in decoded.restored_original_iter() {
            if crc32fast::hash(part) != table.sums[index] {
                return None;
            }
            row[index * table.part_bytes..][..table.part_bytes].copy_from_slice(part);
        }
    }
    let (blocks, rest) = row.split_at(table.blocks);
    let directory = &rest[..table.directory];
    let packets = packets(blocks, directory).ok()?;
    Some([blocks, &packets, directory].concat())
}

/// Returns the blocks and the directory, filled up; zeros for what the file does not have.
fn row(file: &[u8], table: &Table) -> Vec<u8> {
    let mut row = vec![0; table.sums.len() * table.part_bytes];
    let (blocks, directory) = row.split_at_mut(table.blocks);
    let copy = |to: &mut [u8], from: usize| {
        let from = file.get(from..).unwrap_or_default();
        let length = to.len().min(from.len());
        to[..length].copy_from_slice(&from[..length]);
    };
    copy(blocks, 0);
    copy(&mut directory[..table.directory], table.directory_at());
    row
}

/// Finds the packets that are whole, wherever they are: their table, and the number and parity of each.
fn whole_packets(file: &[u8]) -> Option<(Table, Vec<Parity<'_>>)> {
    let mut common: Option<Table> = None;
    let mut found: Vec<Parity<'_>> = Vec::new();
    let mut at = 0;
    let next = |at: usize| (file[at..].windows(MAGIC.len())).position(|four| four == MAGIC);
    while let Some(next) = next(at) {
        at += next;
        let Some((index, table, parity)) = packet(&file[at..]) else {
            at += 1;
            continue;
        };
        at += table.packet_bytes();
        let is_new = found.iter().all(|(other, _)| *other != index);
        if is_new && *common.get_or_insert_with(|| table.clone()) == table {
            found.push((index, parity));
        }
    }
    Some((common?, found))
}

fn packet(bytes: &[u8]) -> Option<(usize, Table, &[u8])> {
    let number = |at: usize| {
        let four = bytes.get(at..)?.first_chunk()?;
        usize::try_from(u32::from_le_bytes(*four)).ok()
    };
    let behind = HEAD_BYTES.checked_add(number(4)?)?;
    let bytes = bytes.get(..behind)?;
    let (body, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    let (index, packets, part_bytes) = (number(8)?, number(12)?, number(16)?);
    let blocks = u64::from_le_bytes(*bytes.get(20..)?.first_chunk()?);
    let blocks = usize::try_from(blocks).ok()?;
    let directory = number(28)?;
    let bytes_of_parts = blocks.checked_add(directory)?;
    let parts = bytes_of_parts.checked_next_multiple_of(part_bytes)? / part_bytes;
    let sums_at = HEAD_BYTES + NUMBERS_BYTES;
    let parity_at = sums_at.checked_add(parts.checked_mul(SUM_BYTES)?)?;
    let is_sound = index < packets && packets <= PARTS_MAX && (1..=PARTS_MAX).contains(&parts);
    if !is_sound || parity_at.checked_add(part_bytes)? != body.len() {
        return None;
    }
    let (sums, _) = body[sums_at..parity_at].as_chunks();
    let table = Table {
        packets,
        part_bytes,
        blocks,
        directory,
        sums: sums.iter().map(|sum| u32::from_le_bytes(*sum)).collect(),
    };
    Some((index, table, &body[parity_at..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn file(blocks: &[u8], directory: &[u8]) -> Vec<u8> {
        [
            blocks,
            &packets(blocks, directory).expect("encodes"),
            directory,
        ]
        .concat()
    }

    /// The places in the file of each part and each packet.
    fn places(table: &Table) -> Vec<Vec<usize>> {
        let behind = table.blocks + table.directory;
        let row = |at: usize| match at < table.blocks {
            true => at,
            false => at - table.blocks + table.directory_at(),
        };
        let parts = (0..behind).step_by(table.part_bytes).map(|from| {
            let to = (from + table.part_bytes).min(behind);
            (from..to).map(row).collect()
        });
        let packets = (0..table.packets).map(|index| {
            let from = table.blocks + index * table.packet_bytes();
            (from..from + table.packet_bytes()).collect()
        });
        parts.chain(packets).collect()
    }

    /// Stored parity must be read by all later versions, also those of the library.
    #[test]
    fn the_bytes_of_parity_are_fixed() {
        let blocks: Vec<u8> = (0..5_000_u32).map(|at| (at * at / 7) as u8).collect();
        let packets = packets(&blocks, b"a directory").expect("encodes");
        assert_eq!(
            (packets.len(), crc32fast::hash(&packets)),
            (2_912, 2_972_347_644)
        );
    }

    proptest! {
        #[test]
        fn all_damage_up_to_the_number_of_packets_is_repaired(
            blocks in prop::collection::vec(any::<u8>(), 0..20_000),
            directory in prop::collection::vec(any::<u8>(), 1..200),
            seed in any::<prop::sample::Index>(),
            chosen in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1_u8..), 1..40),
        ) {
            let whole = file(&blocks, &directory);
            prop_assert_eq!(examine(&whole), Examined::Whole);
            let (table, _) = whole_packets(&whole).expect("there");
            let places = places(&table);
            let mut damaged = whole.clone();
            let mut hit = std::collections::BTreeSet::new();
            for (place, at, flip) in &chosen {
                let number = place.index(places.len());
                if hit.len() == table.packets && !hit.contains(&number) {
                    continue;
                }
                // Either one byte, or all from one on.
                let own = &places[number];
                let from = at.index(own.len());
                let to = if seed.index(2) == 0 { from + 1 } else { own.len() };
                own[from..to].iter().for_each(|at| damaged[*at] ^= flip);
                hit.insert(number);
            }
            match examine(&damaged) {
                Examined::Damaged(repaired) => prop_assert!(repaired.file == whole),
                // One flip may take another one back.
                Examined::Whole => prop_assert!(damaged == whole),
                // Without any packet, all the rest is whole.
                Examined::Unprotected => {
                    let first = table.blocks..table.directory_at();
                    prop_assert_eq!(hit.len(), table.packets);
                    prop_assert!(damaged[..first.start] == whole[..first.start]);
                    prop_assert!(damaged[first.end..] == whole[first.end..]);
                }
                lost @ Examined::Lost { .. } => prop_assert!(false, "{lost:?}"),
            }
        }

        #[test]
        fn nothing_wrong_ever_comes_of_any_damage(
            blocks in prop::collection::vec(any::<u8>(), 0..6_000),
            harms in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..400),
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = file(&blocks, b"directory");
            let mut damaged = whole.clone();
            for (at, byte) in &harms {
                let at = at.index(damaged.len());
                damaged[at] = *byte;
            }
            damaged.truncate(damaged.len().min(cut.index(2 * whole.len())));
            match examine(&damaged) {
                Examined::Damaged(repaired) => prop_assert!(repaired.file == whole),
                Examined::Whole => prop_assert!(damaged == whole),
                Examined::Lost { .. } | Examined::Unprotected => {}
            }
        }
    }
}
