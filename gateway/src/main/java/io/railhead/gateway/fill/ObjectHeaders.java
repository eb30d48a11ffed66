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

/** Between a backend's answer about an object and the metadata the cache keeps of it. */
public final class ObjectHeaders {
    /** Marks metadata that a HEAD gave: only that names the object's checksums. */
    private static final String COMPLETE = ":complete";
    private static final Set<String> OF_ONE_MESSAGE = Set.of("content-length", "content-range",
            "date", "server",
            "connection", "keep-alive", "transfer-encoding", "accept-ranges", "x-amz-request-id",
            "x-amz-id-2",
            "x-amz-mp-parts-count", "x-cache", "x-railhead-request-id", "via", "age",
            "strict-transport-security", "trailer",
            "set-cookie", "alt-svc", "www-authenticate", "proxy-authenticate");
    /** What S3 tells only who has a right of its own to it. */
    private static final Set<String> OF_OTHER_RIGHTS = Set.of("x-amz-object-lock-mode",
            "x-amz-object-lock-retain-until-date", "x-amz-object-lock-legal-hold",
            "x-amz-tagging-count");
    private static final Set<String> ARCHIVED = Set.of("GLACIER", "DEEP_ARCHIVE");

    private static final String CHECKSUM = "x-amz-checksum-";
    private static final Pattern OF_PARTS = Pattern.compile("\"[^\"]*-\\d+\"");

    private ObjectHeaders() {}

    /**
     * What a HEAD or GET answer says about an object of this size; null where it has no ETag that
     * names its bytes (a weak one does not), or may not be kept for others: then it is nothing a
     * cache can hold.
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
            // Held for all, whoever asked.
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
     * When a request was sent.
     *
     * @param generation of the key at that moment
     */
    public record Moment(long nanos, long generation) {}

    /** A ranged GET's checksums are the range's, so they are not kept. */
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

    /** What is not could not be sent to anybody as a header. */
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
     * Whether who may HEAD it need not be allowed, or able, to GET it: S3 decrypts with a key that
     * has a policy of its own, and does not hand out what lies in an archive.
     */
    public static boolean isGuarded(ObjectMetadata metadata) {
        Map<String, String> headers = metadata.headers();
        return metadata.version().sizeBytes() > 0
                && (headers.getOrDefault("x-amz-server-side-encryption", "").startsWith("aws:kms")
                        || ARCHIVED.contains(headers.getOrDefault("x-amz-storage-class", ""))
                        || headers.containsKey("x-amz-archive-status"));
    }

    /** Whether checksums would be there if the object had any. */
    public static boolean isComplete(ObjectMetadata metadata) {
        return metadata.headers().containsKey(COMPLETE);
    }

    /**
     * Whether nobody can say what its checksums are of: of an upload in parts, without a type and
     * without the number of parts that S3 puts behind a sum of sums. Stores that tell them so in a
     * HEAD tell others in a GET.
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

    /** The object's headers as they are sent to a client, ours and the message's own left out. */
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

    /** Whether the client asked for checksums, and they are of the bytes it gets. */
    public enum Checksums {
        SHOWN,
        HIDDEN
    }
}
