package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.PercentCodec;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The spellings of a path that clients sign. */
final class UriEncoding {

    private UriEncoding() {}

    /**
     * The spellings of a path that a signature may cover, the usual one first. All of them name the
     * same key once it is decoded.
     *
     * <ul> <li>Each byte in SigV4's spelling, {@code %2F} left as it is: AWS's SDKs. <li>A slash
     * for each {@code %2F}: MinIO and RGW, which decode the whole path. <li>The path as it was
     * sent: clients that sign another spelling and send that. </ul>
     */
    static List<String> signedPaths(String raw) {
        String canonical = path(raw);
        if (canonical.indexOf("%2F") < 0 && canonical.equals(raw)) {
            return List.of(raw);
        }
        Set<String> paths = new LinkedHashSet<>();
        paths.add(canonical);
        paths.add(canonical.replace("%2F", "/"));
        paths.add(raw);
        return List.copyOf(paths);
    }

    static String path(String raw) {
        try {
            return PercentCodec.canonicalPath(raw);
        } catch (IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_URI);
        }
    }
}
