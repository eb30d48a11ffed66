package io.railhead.client;

import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A part of an upload as the store lists it.
 *
 * @param etag as received, quotes included
 * @param checksum of its bytes; null if the store sends none that this client can compute
 */
record UploadedPart(long bytes, String etag, @Nullable Checksum checksum) {

    static UploadedPart of(Map<String, String> entry) throws IOException {
        return new UploadedPart(Listings.number(Listings.text(entry, "Size")),
                Listings.text(entry, "ETag"), Checksum.ofPart(entry).orElse(null));
    }

    /** Returns whether the part is known to equal that region; reads the region. */
    boolean holds(Content.OfFile region) throws IOException {
        return bytes == region.bytes() && checksum != null
                && checksum.matches(region.file(), region.offset(), region.bytes());
    }
}
