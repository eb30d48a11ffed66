package io.railhead.gateway.fill;

import io.railhead.backend.Headers;
import io.railhead.cache.ObjectId;
import io.railhead.cache.ObjectMetadata;
import io.railhead.cache.ObjectVersion;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Converts between a backend's response about an object and the cached metadata. */
public final class ObjectHeaders {
    /** The header that says what a crash leaves of an object: nothing of a cache-only one. */
    public static final String DURABILITY = "x-railhead-durability";
    public static final String NOT_DURABLE = "none";

    /** Marks metadata from a HEAD: only a HEAD names the object's checksums. */
    private static final String COMPLETE = ":complete";
    private static final Set<String> OF_ONE_MESSAGE = Set.of("content-length", "content-range",
            "date", "server",
            "connection", "keep-alive", "transfer-encoding", "accept-ranges", "x-amz-request-id",
            "x-amz-id-2",
            "x-amz-mp-parts-count", "x-cache", "x-railhead-request-id", "via", "age",
            "strict-transport-security", "trailer",
            "set-cookie", "alt-svc", "www-authenticate", "proxy-authenticate");
    /** Headers that S3 tells only callers with a further permission. */
    private static final Set<String> OF_OTHER_RIGHTS = Set.of("x-amz-object-lock-mode",
            "x-amz-object-lock-retain-until-date", "x-amz-object-lock-legal-hold",
            "x-amz-tagging-count");
    private static final Set<String> ARCHIVED = Set.of("GLACIER", "DEEP_ARCHIVE");

    private static final String CHECKSUM = "x-amz-checksum-";
    private static final Pattern OF_PARTS = Pattern.compile("\"[^\"]*-\\d+\"");

    private ObjectHeaders() {}

    /**
     * Returns the metadata of an object from a HEAD or GET; null if it cannot be cached. That needs
     * an ETag which identifies the bytes, so no weak one, and no directive against sharing.
     */
    public static @Nullable ObjectMetadata metadata(ObjectId id, Headers answer, long sizeBytes,
            Moment sent,
            Source source) {
        String etag = answer.get("etag");
        if (etag == null || etag.startsWith("W/") || !mayBeKept(answer)) {
            return null;
        }
        String versionId = answer.get("x-amz-version-id");
        Map<String, String> kept = new TreeMap<>();
        answer.forEach((name, value) -> keep(kept, name.toLowerCase(Locale.ROOT), value, source));
        if (id.namespace().isEmpty()) {
            // The metadata is shared by all readers, whoever asked.
            kept.keySet().removeAll(OF_OTHER_RIGHTS);
        }
        if (source == Source.HEAD) {
            kept.put(COMPLETE, "");
        }
        ObjectVersion version = new ObjectVersion(id, etag, versionId == null ? "" : versionId,
                sizeBytes);
        return new ObjectMetadata(version, kept, sent.nanos(), sent.generation());
    }

    /**
     * Returns the metadata of an object that no store has, with all checksums that it will ever
     * have.
     *
     * @param headers those of the object, names in lower case; the ETag among them
     */
    public static ObjectMetadata cacheOnly(ObjectVersion version, Map<String, String> headers,
            Moment put) {
        Map<String, String> complete = new TreeMap<>(headers);
        complete.put(COMPLETE, "");
        complete.put(DURABILITY, NOT_DURABLE);
        return new ObjectMetadata(version, complete, put.nanos(), put.generation());
    }

    /**
     * The time when a request was sent.
     *
     * @param generation the key's write epoch at that moment
     */
    public record Moment(long nanos, long generation) {}

    /**
     * The kind of response. A ranged GET's checksums are those of the range, so they are not kept.
     */
    public enum Source {
        HEAD,
        RANGED_GET
    }

    private static void keep(Map<String, String> kept, String name, String value, Source source) {
        boolean rangeOnly = source == Source.RANGED_GET && name.startsWith(CHECKSUM);
        if (!OF_ONE_MESSAGE.contains(name) && !rangeOnly && isOneLine(value)) {
            kept.merge(name, value, (first, next) -> first + "," + next);
        }
    }

    /** Returns whether a value can be sent as a header. */
    private static boolean isOneLine(String value) {
        return value.indexOf('\r') < 0 && value.indexOf('\n') < 0 && value.indexOf('\0') < 0;
    }

    private static boolean mayBeKept(Headers answer) {
        boolean[] forbidden = {false};
        answer.forEach((name, value) -> forbidden[0] |= forbids(name.toLowerCase(Locale.ROOT),
                value.toLowerCase(Locale.ROOT)));
        return !forbidden[0];
    }

    private static boolean forbids(String name, String value) {
        return switch (name) {
            case "cache-control" -> value.contains("no-store") || value.contains("private");
            case "x-amz-server-side-encryption-customer-algorithm", "x-amz-request-charged" -> true;
            default -> false;
        };
    }

    /**
     * Returns whether HEAD needs fewer permissions than GET. S3 decrypts with a key that has its
     * own policy, and does not return archived objects.
     */
    public static boolean isGuarded(ObjectMetadata metadata) {
        Map<String, String> headers = metadata.headers();
        return metadata.version().sizeBytes() > 0
                && (headers.getOrDefault("x-amz-server-side-encryption", "").startsWith("aws:kms")
                        || ARCHIVED.contains(headers.getOrDefault("x-amz-storage-class", ""))
                        || headers.containsKey("x-amz-archive-status"));
    }

    /** Returns whether the checksums would be known if the object had any. */
    public static boolean isComplete(ObjectMetadata metadata) {
        return metadata.headers().containsKey(COMPLETE);
    }

    /**
     * Returns whether the meaning of the checksums is unknown. An upload in parts may have them
     * without a type, and without the number of parts that marks a checksum of checksums. Such
     * stores report another checksum in a GET than in a HEAD.
     */
    public static boolean hasUncertainChecksums(ObjectMetadata metadata) {
        return !metadata.headers().containsKey(CHECKSUM + "type")
                && OF_PARTS.matcher(metadata.version().etag()).matches()
                && metadata.headers()
                        .entrySet()
                        .stream()
                        .anyMatch(header -> header.getKey().startsWith(CHECKSUM)
                                && header.getValue().indexOf('-') < 0);
    }

    /** Visits the object's headers for a client, without internal ones and those of one message. */
    public static void forEach(ObjectMetadata metadata, Checksums checksums,
            BiConsumer<? super String, ? super String> visitor) {
        metadata.headers().forEach((name, value) -> {
            boolean hidden = name.startsWith(":")
                    || (checksums == Checksums.HIDDEN && name.startsWith(CHECKSUM));
            if (!hidden) {
                visitor.accept(name, value);
            }
        });
    }

    /**
     * The visibility of checksums: shown if the client asked for them and they describe the bytes
     * sent.
     */
    public enum Checksums {
        SHOWN,
        HIDDEN
    }
}
