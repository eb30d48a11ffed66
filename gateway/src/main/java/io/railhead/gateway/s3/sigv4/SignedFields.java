package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Dialects;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The signed header fields of one request in SigV4's canonical form, collected in one pass. The
 * pass refuses unsigned {@code x-amz-*} fields, repeated fields that decide the identity, and too
 * many fields.
 */
final class SignedFields {
    static final int MAX_FIELDS = 1_000;
    /**
     * The largest list that is searched without an index, which allocates nothing; only hostile
     * heads are larger.
     */
    private static final int MAX_SEARCHED = 32;
    private static final int MAX_BYTES = 64 << 10;
    /**
     * Fields that must not repeat: the signature could cover one copy and the request obey the
     * other.
     */
    private static final Set<String> SINGLE = Set.of("host", "date", "x-amz-date",
            "x-amz-content-sha256", "x-amz-security-token");
    /** Fields that the canonical request holds outside its list of headers too. */
    private static final Set<String> COVERED_ANYWAY = Set.of("x-amz-date", "x-amz-content-sha256");

    private final SignatureInput signatureInput;
    private final Map<String, Integer> places;
    private final @Nullable String[] values;
    /** Null until the first; most requests have none. */
    private @Nullable Set<String> unsignedSeen;
    /** The place of a value that needs no check of its characters; -1 if there is none. */
    private int checked = -1;
    private int fields;
    private long bytes;

    private SignedFields(SignatureInput signatureInput) {
        this.signatureInput = signatureInput;
        this.values = new String[signatureInput.signedHeaders().size()];
        this.places = values.length > MAX_SEARCHED
                ? places(signatureInput.signedHeaders())
                : Map.of();
    }

    private static Map<String, Integer> places(List<String> names) {
        Map<String, Integer> places = new HashMap<>();
        for (int i = 0; i < names.size(); i++) {
            places.put(names.get(i), i);
        }
        return places;
    }

    /** Collects and checks the fields of a head. */
    static SignedFields of(SignatureInput signatureInput, Headers headers) {
        if (!signatureInput.signedHeaders().contains("host")) {
            throw notSigned();
        }
        SignedFields fields = new SignedFields(signatureInput);
        headers.forEach(fields::take);
        fields.requireAll();
        return fields;
    }

    private void take(String name, String value) {
        fields++;
        bytes += name.length() + value.length();
        if (fields > MAX_FIELDS || bytes > MAX_BYTES) {
            throw new S3Refusal(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
        }
        int index = indexOf(name);
        if (index < 0) {
            requireMayBeUnsigned(name);
            return;
        }
        String before = values[index];
        if (before != null) {
            values[index] = before + ',' + again(index, name, value);
        } else if (isCanonicalToken(value)) {
            values[index] = value;
            checked = index;
        } else {
            values[index] = collapse(value);
        }
    }

    private String again(int index, String name, String value) {
        if (SINGLE.contains(signatureInput.signedHeaders().get(index))) {
            throw twice(name);
        }
        checked = checked == index ? -1 : checked;
        return collapse(value);
    }

    private boolean isCanonicalToken(String value) {
        SessionToken token = signatureInput.token();
        return token != null && token.isCanonical() && token.text().equals(value);
    }

    private int indexOf(String name) {
        if (!places.isEmpty()) {
            return places.getOrDefault(name.toLowerCase(Locale.ROOT), -1);
        }
        List<String> names = signatureInput.signedHeaders();
        for (int i = 0; i < names.size(); i++) {
            if (names.get(i).equalsIgnoreCase(name)) {
                return i;
            }
        }
        return -1;
    }

    private void requireMayBeUnsigned(String name) {
        if (!name.regionMatches(true, 0, "x-amz-", 0, 6)) {
            return;
        }
        String lower = name.toLowerCase(Locale.ROOT);
        if (Dialects.isHeader(lower)) {
            throw new S3Refusal(S3Error.RDMA_TOKEN_NOT_SIGNED);
        }
        boolean allowed = signatureInput.presigned()
                ? lower.equals("x-amz-content-sha256")
                : COVERED_ANYWAY.contains(lower);
        if (!allowed) {
            throw notSigned();
        }
        if (unsignedSeen == null) {
            unsignedSeen = new HashSet<>();
        }
        if (!unsignedSeen.add(lower)) {
            throw twice(name);
        }
    }

    private static S3Refusal twice(String name) {
        return new S3Refusal(S3Error.INVALID_REQUEST,
                "The header " + name.toLowerCase(Locale.ROOT) + " must not appear twice.");
    }

    private static S3Refusal notSigned() {
        return new S3Refusal(S3Error.ACCESS_DENIED,
                "There were headers present in the request which were not signed");
    }

    /** Trims the value, and reduces each run of blanks to one. */
    static String collapse(String value) {
        String trimmed = value.strip();
        if (trimmed.indexOf("  ") < 0 && trimmed.indexOf('\t') < 0) {
            return trimmed;
        }
        StringBuilder collapsed = new StringBuilder(trimmed.length());
        for (int i = 0; i < trimmed.length(); i++) {
            char c = trimmed.charAt(i) == '\t' ? ' ' : trimmed.charAt(i);
            if (c != ' ' || collapsed.charAt(collapsed.length() - 1) != ' ') {
                collapsed.append(c);
            }
        }
        return collapsed.toString();
    }

    private void requireAll() {
        for (String value : values) {
            if (value == null) {
                throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
            }
        }
    }

    /** Adds a {@code name:value} line for each signed header, then the list of their names. */
    void addTo(SignedBytes form) {
        List<String> names = signatureInput.signedHeaders();
        for (int i = 0; i < values.length; i++) {
            String value = Objects.requireNonNull(values[i]);
            form.add(names.get(i)).add(':');
            (i == checked ? form.addLatin1(value) : form.add(value)).add('\n');
        }
        for (int i = 0; i < values.length; i++) {
            form.add(i == 0 ? '\n' : ';').add(names.get(i));
        }
    }
}
