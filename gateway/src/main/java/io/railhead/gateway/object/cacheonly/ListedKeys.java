package io.railhead.gateway.object.cacheonly;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.PercentCodec;
import io.railhead.cache.CacheOnlyObjects;
import io.railhead.cache.ObjectMetadata;
import io.railhead.gateway.object.read.HeldRead;
import io.railhead.gateway.s3.ErrorXml;
import io.railhead.gateway.s3.Query;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import java.time.Instant;
import java.util.Base64;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list of keys, built key by key in S3's order. Source: "ListObjectsV2" and
 * "ListObjects" in the Amazon S3 API reference.
 */
final class ListedKeys {
    private static final int MAX_KEYS = 1000;

    private final Question question;
    private final StringBuilder entries = new StringBuilder();
    private int count;
    private @Nullable String last;
    private boolean isTruncated;

    /**
     * The parameters of a list.
     *
     * @param delimiter "" for none
     * @param after the key or common prefix to go on behind; "" for the beginning
     * @param startAfter as the client sent it; null if it did not
     */
    record Question(boolean isV2, String prefix, String delimiter, int maxKeys, String after,
            @Nullable String token, @Nullable String startAfter, boolean encodes) {

        /** Throws {@code S3Refusal} if a parameter has no meaning. */
        static Question of(Query query) {
            boolean isV2 = "2".equals(query.get("list-type"));
            String token = isV2 ? query.getSpaced("continuation-token") : null;
            String startAfter = query.getSpaced(isV2 ? "start-after" : "marker");
            return new Question(isV2, text(query, "prefix"), text(query, "delimiter"),
                    maxKeys(query.get("max-keys")),
                    token != null ? decoded(token) : startAfter == null ? "" : startAfter, token,
                    startAfter, "url".equals(query.get("encoding-type")));
        }

        private static String text(Query query, String name) {
            String value = query.getSpaced(name);
            return value == null ? "" : value;
        }

        private static int maxKeys(@Nullable String value) {
            try {
                int wanted = value == null || value.isEmpty() ? MAX_KEYS : Integer.parseInt(value);
                if (wanted >= 0) {
                    return Math.min(MAX_KEYS, wanted);
                }
            } catch (NumberFormatException _) {
                // Refused below, as a negative number is.
            }
            throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                    "max-keys must be an integer from 0 to 2147483647.");
        }

        private static String decoded(String token) {
            try {
                return new String(Base64.getUrlDecoder().decode(token), UTF_8);
            } catch (IllegalArgumentException e) {
                throw new S3Refusal(S3Error.INVALID_ARGUMENT,
                        "The continuation token provided is incorrect");
            }
        }

        /** Returns the key at which the list begins, at the earliest. */
        String firstKey() {
            return CacheOnlyObjects.KEY_ORDER.compare(after, prefix) > 0 ? after : prefix;
        }

        /** Returns whether a key was listed before, by itself or by its common prefix. */
        private boolean isBehind(String key) {
            return key.equals(after) || (!after.isEmpty() && !delimiter.isEmpty()
                    && after.endsWith(delimiter) && key.startsWith(after));
        }

        private @Nullable String commonPrefix(String key) {
            int at = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
            return at < 0 ? null : key.substring(0, at + delimiter.length());
        }
    }

    ListedKeys(Question question) {
        this.question = question;
    }

    /** Takes the next key; returns whether more are wanted. */
    boolean visit(ObjectMetadata metadata, Predicate<String> mayRead) {
        String key = metadata.version().object().key();
        if (!key.startsWith(question.prefix())) {
            return false;
        }
        String common = question.commonPrefix(key);
        if (question.isBehind(key) || (common != null && common.equals(last))
                || !mayRead.test(key)) {
            return true;
        }
        if (count == question.maxKeys()) {
            isTruncated = count > 0;
            return false;
        }
        count++;
        last = common == null ? key : common;
        if (common == null) {
            append(metadata, key);
        } else {
            entries.append("<CommonPrefixes>");
            name(entries, "Prefix", common);
            entries.append("</CommonPrefixes>");
        }
        return true;
    }

    private void append(ObjectMetadata metadata, String key) {
        entries.append("<Contents>");
        name(entries, "Key", key);
        Instant modified = HeldRead.date(metadata.headers().get("last-modified"));
        ErrorXml.element(entries, "LastModified",
                String.valueOf(modified == null ? Instant.EPOCH : modified));
        ErrorXml.element(entries, "ETag", metadata.version().etag());
        ErrorXml.element(entries, "Size", Long.toString(metadata.version().sizeBytes()));
        ErrorXml.element(entries, "StorageClass", "STANDARD");
        entries.append("</Contents>");
    }

    private void name(StringBuilder xml, String element, String value) {
        ErrorXml.element(xml, element,
                question.encodes() ? PercentCodec.encodePath(value) : value);
    }

    String document(String bucket) {
        StringBuilder xml = new StringBuilder("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                + "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">");
        ErrorXml.element(xml, "Name", bucket);
        name(xml, "Prefix", question.prefix());
        if (!question.delimiter().isEmpty()) {
            name(xml, "Delimiter", question.delimiter());
        }
        ErrorXml.element(xml, "MaxKeys", Integer.toString(question.maxKeys()));
        if (question.encodes()) {
            ErrorXml.element(xml, "EncodingType", "url");
        }
        ErrorXml.element(xml, "IsTruncated", Boolean.toString(isTruncated));
        place(xml);
        return xml.append(entries).append("</ListBucketResult>").toString();
    }

    private void place(StringBuilder xml) {
        String startAfter = question.startAfter();
        String token = question.token();
        if (question.isV2()) {
            ErrorXml.element(xml, "KeyCount", Integer.toString(count));
            if (token != null) {
                ErrorXml.element(xml, "ContinuationToken", token);
            }
        }
        if (startAfter != null || !question.isV2()) {
            name(xml, question.isV2() ? "StartAfter" : "Marker",
                    startAfter == null ? "" : startAfter);
        }
        if (isTruncated && last != null) {
            if (question.isV2()) {
                ErrorXml.element(xml, "NextContinuationToken",
                        Base64.getUrlEncoder()
                                .withoutPadding()
                                .encodeToString(last.getBytes(UTF_8)));
            } else {
                name(xml, "NextMarker", last);
            }
        }
    }
}
