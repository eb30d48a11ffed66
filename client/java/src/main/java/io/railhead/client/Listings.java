package io.railhead.client;

import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Lists buckets and objects page by page, so that no whole listing is in memory. */
final class Listings {
    private static final int DOCUMENT_LIMIT = 16 << 20;

    private final S3Http http;

    Listings(S3Http http) {
        this.http = http;
    }

    void create(String bucket) throws IOException {
        Call call = new Call(SdkHttpMethod.PUT, "/" + bucket, Map.of(), Map.of(), Call.Body.EMPTY);
        http.document(call, DOCUMENT_LIMIT);
    }

    void buckets(Consumer<ListedBucket> found) throws IOException {
        Call call = new Call(SdkHttpMethod.GET, "/", Map.of(), Map.of(), null);
        var document = S3Documents.parse(http.document(call, DOCUMENT_LIMIT), "Bucket");
        for (Map<String, String> bucket : document.entries()) {
            found.accept(new ListedBucket(text(bucket, "Name"),
                    bucket.getOrDefault("CreationDate", "")));
        }
    }

    void objects(String bucket, String prefix, int pageSize, Consumer<ListedObject> found)
            throws IOException {
        String token = null;
        do {
            var page = page(bucket, prefix, pageSize, token);
            for (Map<String, String> entry : page.entries()) {
                found.accept(new ListedObject(text(entry, "Key"), number(text(entry, "Size")),
                        entry.getOrDefault("LastModified", "")));
            }
            token = next(page, token);
        } while (token != null);
    }

    private S3Documents.Document page(String bucket, String prefix, int pageSize,
            @Nullable String token) throws IOException {
        Call call = new Call(SdkHttpMethod.GET, "/" + bucket, Map.of(), Map.of(), null)
                .query("list-type", "2")
                .query("max-keys", Integer.toString(pageSize));
        if (!prefix.isEmpty()) {
            call = call.query("prefix", prefix);
        }
        if (token != null) {
            call = call.query("continuation-token", token);
        }
        return S3Documents.parse(http.document(call, DOCUMENT_LIMIT), "Contents");
    }

    private static @Nullable String next(S3Documents.Document page, @Nullable String before)
            throws IOException {
        if (!Boolean.parseBoolean(page.fields().get("IsTruncated"))) {
            return null;
        }
        String token = page.require("NextContinuationToken");
        if (token.equals(before)) {
            throw new PermanentException("the store's listing does not advance");
        }
        return token;
    }

    static String text(Map<String, String> entry, String field) throws IOException {
        String value = entry.get(field);
        if (value == null) {
            throw new PermanentException("the store's listing has an entry without " + field);
        }
        return value;
    }

    static long number(String text) throws IOException {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new IOException("the store's listing has a bad size: " + text, e);
        }
    }
}
