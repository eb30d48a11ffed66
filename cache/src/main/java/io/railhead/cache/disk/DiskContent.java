package io.railhead.cache.disk;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The content of a file or device.
 *
 * @param bytes its size
 * @param foreign the name of content that no gateway wrote, or a damage; "" if there is none
 * @param volume null if there is none that can be read
 */
public record DiskContent(String path, long bytes, boolean isDevice, String foreign,
        @Nullable Volume volume) {

    /**
     * A gateway's pages.
     *
     * @param identifier made anew whenever the content is dropped
     * @param sequence how often it was opened
     * @param bytes the part of the file or device that it takes
     */
    public record Volume(int format, String identifier, long sequence, long bytes, int segments,
            long segmentBytes, int pageBytes) {

        static Volume of(Superblock superblock) {
            DiskLayout layout = superblock.layout();
            HexFormat hex = HexFormat.of();
            return new Volume(Superblock.FORMAT, hex.toHexDigits(superblock.volume().high())
                    + hex.toHexDigits(superblock.volume().low()), superblock.epoch(),
                    layout.volumeBytes(), layout.segments(), layout.segmentBytes(),
                    layout.pageBytes());
        }
    }

    public boolean isBlank() {
        return foreign.isEmpty() && volume == null;
    }

    /** Returns the content in a few words, which go on from "holds". */
    public String words() {
        if (volume != null) {
            return "pages of a gateway (volume " + volume.identifier() + ")";
        }
        return foreign.isEmpty() ? "nothing" : foreign;
    }
}
