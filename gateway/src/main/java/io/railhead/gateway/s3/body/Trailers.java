package io.railhead.gateway.s3.body;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.gateway.s3.sigv4.ChunkSignatures;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The fields behind the last chunk: only announced ones, each once. Single-threaded. */
final class Trailers {
    private static final int MAX_BYTES = 8 << 10;
    private static final String SIGNATURE = "x-amz-trailer-signature";

    private final Set<String> announced;
    private final boolean signed;
    private final Map<String, String> values = new LinkedHashMap<>();
    private @Nullable String signature;
    private int bytes;

    private Trailers(Set<String> announced, boolean signed) {
        this.announced = announced;
        this.signed = signed;
    }

    static Trailers signed(Set<String> announced) {
        return new Trailers(announced, true);
    }

    static Trailers unsigned(Set<String> announced) {
        return new Trailers(announced, false);
    }

    /**
     * Returns true after the last line. A widely used client puts an empty line before the
     * signature too; that line ends nothing.
     */
    boolean take(String line) {
        if (line.isEmpty()) {
            return !signed || signature != null;
        }
        bytes += line.length();
        int colon = line.indexOf(':');
        if (colon <= 0 || bytes > MAX_BYTES || signature != null) {
            throw malformed();
        }
        String name = line.substring(0, colon).strip().toLowerCase(Locale.ROOT);
        String value = line.substring(colon + 1).strip();
        if (signed && name.equals(SIGNATURE)) {
            signature = value;
        } else if (!announced.contains(name) || values.put(name, value) != null) {
            throw malformed();
        }
        return false;
    }

    void verify(@Nullable ChunkSignatures signatures) {
        if (!values.keySet().equals(announced)) {
            throw malformed();
        }
        if (signatures == null) {
            return;
        }
        if (signature == null) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        StringBuilder canonical = new StringBuilder();
        values.forEach((name, value) -> canonical.append(name)
                .append(':')
                .append(value)
                .append('\n'));
        signatures.verifyTrailer(signature, canonical.toString());
    }

    Map<String, String> values() {
        return values;
    }

    private static S3Refusal malformed() {
        return new S3Refusal(S3Error.MALFORMED_TRAILER);
    }
}
