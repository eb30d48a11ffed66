package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.PercentCodec;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Verifies signatures of SigV4's predecessor, by header ({@code AWS key:signature}) and by query
 * ({@code AWSAccessKeyId}, {@code Signature}, {@code Expires}). See "Signing and authenticating
 * REST requests (AWS signature version 2)" in the Amazon S3 API reference. Such a signature covers
 * neither Host nor body, and only parameters that were known in its time. A request with other
 * parameters that could change its meaning is refused. Any thread; never blocks.
 */
public final class SigV2 {
    static final String KEY = "AWSAccessKeyId";
    static final String SIGNATURE = "Signature";
    static final String EXPIRES = "Expires";
    private static final String HMAC = "HmacSHA1";
    private static final Duration MAX_SKEW = Duration.ofMinutes(15);
    private static final int MAX_FIELDS = SignedFields.MAX_FIELDS;
    private static final int MAX_BYTES = 64 << 10;
    private static final Set<String> SIGNED = Set.of("accelerate", "acl", "analytics", "cors",
            "delete", "inventory", "lifecycle", "location", "logging", "metrics", "notification",
            "object-lock", "partNumber", "policy", "replication", "requestPayment",
            "response-cache-control", "response-content-disposition",
            "response-content-encoding", "response-content-language", "response-content-type",
            "response-expires", "restore", "select", "select-type", "tagging", "torrent",
            "uploadId", "uploads", "versionId", "versioning", "versions", "website");
    /** Parameters of listings, and those that carry the signature. */
    private static final Set<String> UNSIGNED = Set.of("prefix", "delimiter", "marker", "max-keys",
            "list-type", "continuation-token", "start-after", "encoding-type", "fetch-owner",
            "key-marker", "version-id-marker", "upload-id-marker", "max-uploads", "max-parts",
            "part-number-marker", "x-id", "id", KEY, SIGNATURE, EXPIRES);
    private static final Set<String> SINGLE = Set.of("content-md5", "content-type", "date",
            "x-amz-date", "x-amz-security-token");

    private final CredentialStore credentials;
    private final Function<RequestHead, @Nullable String> bucketInHost;

    /**
     * @param bucketInHost returns the bucket that the Host header names; null if the path names it
     */
    public SigV2(CredentialStore credentials,
            Function<RequestHead, @Nullable String> bucketInHost) {
        this.credentials = credentials;
        this.bucketInHost = bucketInHost;
    }

    /**
     * Returns the signer that the header or query names. Throws {@code S3Refusal} if there is none.
     */
    Authentication authenticate(RequestHead head, Query query,
            @Nullable String authorization, Instant now) {
        String accessKeyId;
        String signature;
        if (authorization != null) {
            int colon = authorization.lastIndexOf(':');
            if (colon < 0) {
                throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                        "AWS authorization header is invalid. Expected AwsAccessKeyId:signature");
            }
            accessKeyId = authorization.substring("AWS ".length(), colon).strip();
            signature = authorization.substring(colon + 1).strip();
        } else {
            accessKeyId = required(query, KEY);
            signature = required(query, SIGNATURE);
        }
        Map<String, String> fields = fields(head, query);
        Identity identity = Authenticator.requireIdentity(credentials, accessKeyId,
                fields.get("x-amz-security-token"), now);
        String when = authorization != null
                ? headerDate(fields, now)
                : expiry(required(query, EXPIRES), now);
        List<String> resources = resources(head);
        Predicate<String> holds = path -> {
            String signed = stringToSign(head, query, fields, when, path);
            return MessageDigest.isEqual(
                    Base64.getEncoder().encode(hmac(identity.key().secret(), signed)),
                    signature.getBytes(UTF_8));
        };
        if (resources.stream().noneMatch(holds)) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        return new Authentication.Named(identity.principal(), identity.key(), payload(fields));
    }

    private static String required(Query query, String name) {
        String value = query.single(name);
        if (value == null) {
            throw new S3Refusal(S3Error.ACCESS_DENIED, "Query-string authentication requires the"
                    + " Signature, Expires and AWSAccessKeyId parameters");
        }
        return value;
    }

    /**
     * Returns the signed fields, with names in lower case; query parameters of a presigned request
     * count as fields.
     */
    private static Map<String, String> fields(RequestHead head, Query query) {
        Map<String, String> fields = new TreeMap<>();
        int[] seen = new int[2];
        head.headers().forEach((name, value) -> {
            seen[0]++;
            seen[1] += name.length() + value.length();
            if (seen[0] > MAX_FIELDS || seen[1] > MAX_BYTES) {
                throw new S3Refusal(S3Error.REQUEST_HEADER_SECTION_TOO_LARGE);
            }
            add(fields, name.toLowerCase(Locale.ROOT), value);
        });
        forEachByte(query, (name, value) -> {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.startsWith("x-amz-") || lower.equals("content-md5")
                    || lower.equals("content-type")) {
                add(fields, lower, value);
            } else if (!SIGNED.contains(name) && !UNSIGNED.contains(name)) {
                throw new S3Refusal(S3Error.INVALID_REQUEST, "The parameter " + lower
                        + " is not covered by a signature of version 2; please use"
                        + " AWS4-HMAC-SHA256.");
            }
        });
        return fields;
    }

    private static void add(Map<String, String> fields, String name, String value) {
        if (!name.startsWith("x-amz-") && !SINGLE.contains(name)) {
            return;
        }
        String before = fields.get(name);
        if (before != null && SINGLE.contains(name)) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "The header " + name + " must not appear twice.");
        }
        fields.put(name, before == null ? value.strip() : before + ',' + value.strip());
    }

    /** Returns the value of the date line. */
    private static String headerDate(Map<String, String> fields, Instant now) {
        String amzDate = fields.get("x-amz-date");
        String date = amzDate != null ? amzDate : fields.get("date");
        Instant signedAt = date == null
                ? null
                : date.length() == 16 ? SigningTime.parse(date) : SigningTime.parseHttp(date);
        if (signedAt == null) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "AWS authentication requires a valid Date or x-amz-date header");
        }
        if (Duration.between(signedAt, now).abs().compareTo(MAX_SKEW) > 0) {
            throw new S3Refusal(S3Error.REQUEST_TIME_TOO_SKEWED);
        }
        return amzDate != null || date == null ? "" : date;
    }

    private static String expiry(String expires, Instant now) {
        long seconds;
        try {
            seconds = Long.parseLong(expires);
        } catch (NumberFormatException e) {
            throw new S3Refusal(S3Error.ACCESS_DENIED, "Invalid date (should be seconds since"
                    + " epoch): " + expires);
        }
        if (seconds < now.getEpochSecond()) {
            throw new S3Refusal(S3Error.ACCESS_DENIED, "Request has expired");
        }
        return expires;
    }

    private static String stringToSign(RequestHead head, Query query,
            Map<String, String> fields, String when, String resource) {
        StringBuilder text = new StringBuilder(256).append(head.method())
                .append('\n')
                .append(fields.getOrDefault("content-md5", ""))
                .append('\n')
                .append(fields.getOrDefault("content-type", ""))
                .append('\n')
                .append(when)
                .append('\n');
        fields.forEach((name, value) -> {
            if (name.startsWith("x-amz-")) {
                text.append(name).append(':').append(value).append('\n');
            }
        });
        return text.append(resource).append(subresources(query)).toString();
    }

    /**
     * Returns the possible signed resources, as sent first. For a bucket, clients also sign its
     * path with a slash at the end.
     */
    private List<String> resources(RequestHead head) {
        String bucket = bucketInHost.apply(head);
        Set<String> paths = new LinkedHashSet<>();
        paths.add(head.rawPath());
        paths.addAll(CanonicalRequest.paths(head.rawPath()));
        List<String> resources = new ArrayList<>();
        for (String path : paths) {
            String resource = bucket == null ? path : '/' + bucket + path;
            resources.add(resource);
            if (resource.lastIndexOf('/') <= 0) {
                resources.add(resource + '/');
            }
        }
        return resources;
    }

    /**
     * Visits names and values, each char one byte. A plus sign is a space in names, and itself in
     * values.
     */
    private static void forEachByte(Query query, BiConsumer<String, String> visitor) {
        query.forEachRaw((name, value) -> visitor.accept(
                PercentCodec.decodeBytes(name.replace('+', ' ')),
                PercentCodec.decodeBytes(value)));
    }

    private static String subresources(Query query) {
        List<String> found = new ArrayList<>();
        forEachByte(query, (name, value) -> {
            if (SIGNED.contains(name)) {
                found.add(value.isEmpty() ? name : name + '=' + value);
            }
        });
        found.sort(null);
        return found.isEmpty() ? "" : "?" + String.join("&", found);
    }

    /** Each char must be one received byte. */
    static byte[] hmac(Secret secret, String text) {
        if (text.chars().anyMatch(c -> c > 0xFF)) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(secret.reveal().getBytes(UTF_8), HMAC));
            return mac.doFinal(text.getBytes(ISO_8859_1));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every JDK has " + HMAC, e);
        }
    }

    /**
     * Reads the payload's declaration. Chunk signatures are refused, since this version has none.
     */
    private static PayloadSigning payload(Map<String, String> fields) {
        String value = fields.get("x-amz-content-sha256");
        PayloadSigning payload = value == null
                ? new PayloadSigning.Unsigned()
                : PayloadSigning.parse(value);
        if (payload instanceof PayloadSigning.SignedChunks) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "Signed chunks need a request signed with AWS4-HMAC-SHA256.");
        }
        return payload;
    }
}
