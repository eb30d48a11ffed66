package io.railhead.cache.disk;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import java.util.List;

/** The names of content that is not ours, by what it has at a known place of a disk. */
final class Signatures {
    /** The bytes at both ends in which all of them are. */
    static final int BYTES = (int) DiskLayout.SEGMENTS_AT;

    private static final List<Signature> AT_START = List.of(
            new Signature("LUKS, an encrypted volume", 0, "LUKS\u00ba\u00be"),
            new Signature("an XFS file system", 0, "XFSB"),
            new Signature("a btrfs file system", 0x10040, "_BHRfS_M"),
            new Signature("an LVM physical volume", 512, "LABELONE"),
            new Signature("swap space", 4086, "SWAPSPACE2"),
            new Signature("a member of a RAID", 4096, "\u00fcN+\u00a9"),
            new Signature("a member of a RAID", 0, "\u00fcN+\u00a9"),
            new Signature("a partition table (GPT)", 512, "EFI PART"),
            new Signature("a partition table (GPT)", 4096, "EFI PART"),
            new Signature("an ext2, ext3 or ext4 file system", 0x438, "S\u00ef"),
            new Signature("a partition table or boot sector (MBR)", 510, "U\u00aa"));

    /** @param bytes each of them a character from 0 to 255 */
    private record Signature(String name, int at, String bytes) {
        boolean isIn(byte[] block) {
            byte[] wanted = bytes.getBytes(ISO_8859_1);
            return block.length >= at + wanted.length
                    && Arrays.equals(block, at, at + wanted.length, wanted, 0, wanted.length);
        }
    }

    private Signatures() {}

    /** Returns the name of a disk's content, by its first bytes. */
    static String of(byte[] first) {
        return AT_START.stream()
                .filter(signature -> signature.isIn(first))
                .findFirst()
                .map(Signature::name)
                .orElse("data of an unknown kind");
    }

    static boolean isZero(byte[] bytes) {
        for (byte each : bytes) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }
}
