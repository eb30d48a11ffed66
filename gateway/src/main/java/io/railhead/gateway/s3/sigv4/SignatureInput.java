package io.railhead.gateway.s3.sigv4;

import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Hex;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The signature fields of a request, before verification.
 *
 * @param date the time of signing, as the string to sign has it
 * @param expiresSeconds counted from {@code signedAt}, for presigned requests
 */
record SignatureInput(String accessKeyId, SignatureScope scope, List<String> signedHeaders,
        String signature, String date, Instant signedAt, long expiresSeconds,
        @Nullable SessionToken token, PayloadSigning payload, boolean presigned) {

    static final String ALGORITHM = "AWS4-HMAC-SHA256";
    static final int SIGNATURE_DIGITS = 64;

    @Nullable
    String sessionToken() {
        return token == null ? null : token.text();
    }

    /** Omits the signature and the token. */
    @Override
    public String toString() {
        return "Claim[" + accessKeyId + ", " + scope + "]";
    }

    /** The parts of {@code access-key/date/region/service/aws4_request}. */
    record Credential(String accessKeyId, SignatureScope scope) {

        static Credential parse(String text, String service, S3Error malformed) {
            String[] parts = new String[5];
            int end = text.length();
            for (int i = 4; i > 0; i--) {
                int slash = end <= 0 ? -1 : text.lastIndexOf('/', end - 1);
                if (slash < 0) {
                    throw refusal(malformed, "the Credential is mal-formed; expecting "
                            + "\"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".");
                }
                parts[i] = text.substring(slash + 1, end);
                end = slash;
            }
            parts[0] = text.substring(0, end);
            return checked(parts, service, malformed);
        }

        private static Credential checked(String[] parts, String service,
                S3Error malformed) {
            if (!parts[4].equals("aws4_request")) {
                throw refusal(malformed, "incorrect terminal \"" + parts[4]
                        + "\". This endpoint uses \"aws4_request\".");
            }
            if (!parts[3].equals(service)) {
                throw refusal(malformed, "incorrect service \"" + parts[3]
                        + "\". This endpoint belongs to \"" + service + "\".");
            }
            if (parts[0].isEmpty()) {
                throw refusal(malformed, "the Credential has no access key.");
            }
            if (parts[1].length() != 8 || !isNumber(parts[1])) {
                throw refusal(malformed, "incorrect date format \"" + parts[1]
                        + "\". This date in the credential must be in the format \"yyyyMMdd\".");
            }
            return new Credential(parts[0], new SignatureScope(parts[1], parts[2], parts[3]));
        }
    }

    private static boolean isNumber(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return false;
            }
        }
        return true;
    }

    /** Returns the refusal in S3's words, which depend on the place of the credential. */
    private static S3Refusal refusal(S3Error malformed, String detail) {
        return new S3Refusal(malformed, (malformed == S3Error.AUTHORIZATION_HEADER_MALFORMED
                ? "The authorization header is malformed; "
                : "Error parsing the X-Amz-Credential parameter; ") + detail);
    }

    /** Requires the scope's date to be the day of signing. */
    static void requireSameDay(SignatureScope scope, String date, S3Error malformed) {
        if (!date.startsWith(scope.date())) {
            throw new S3Refusal(malformed, "Invalid credential date \"" + scope.date()
                    + "\". This date is not the same as X-Amz-Date: \""
                    + date.substring(0, 8) + "\".");
        }
    }

    static List<String> signedHeaders(String text, S3Error malformed) {
        Set<String> names = new LinkedHashSet<>();
        int start = 0;
        while (start <= text.length()) {
            int end = text.indexOf(';', start);
            end = end < 0 ? text.length() : end;
            String name = text.substring(start, end);
            if (!isHeaderName(name) || names.size() == SignedFields.MAX_FIELDS
                    || !names.add(name)) {
                throw new S3Refusal(malformed, "The SignedHeaders list is malformed.");
            }
            start = end + 1;
        }
        return List.copyOf(names);
    }

    private static boolean isHeaderName(String name) {
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (c <= ' ' || c >= 0x7F || c == ':' || (c >= 'A' && c <= 'Z')) {
                return false;
            }
        }
        return !name.isEmpty();
    }

    static String signature(String text, S3Error malformed) {
        if (!Hex.isSha256(text)) {
            throw new S3Refusal(malformed, "The Signature must be 64 lower-case hex digits.");
        }
        return text;
    }
}
