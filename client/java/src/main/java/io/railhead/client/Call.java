package io.railhead.client;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.ContentStreamProvider;
import software.amazon.awssdk.http.SdkHttpMethod;
import software.amazon.awssdk.utils.http.SdkHttpUtils;

/**
 * One S3 request before it is signed.
 *
 * @param path percent-encoded, from the root
 * @param query decoded; a parameter without a value has an empty one
 * @param body can be opened again, since signing hashes it first
 */
record Call(SdkHttpMethod method, String path, Map<String, String> query,
        Map<String, String> headers, @Nullable Body body) {

    private static final String HASH_HEADER = "x-amz-content-sha256";
    private static final String UNSIGNED = "UNSIGNED-PAYLOAD";

    /** A request body of known length. */
    record Body(long bytes, ContentStreamProvider stream) {
        static final Body EMPTY = new Body(0, ContentStreamProvider.fromByteArray(new byte[0]));

        static Body of(byte[] bytes) {
            return new Body(bytes.length, ContentStreamProvider.fromByteArray(bytes));
        }
    }

    static Call to(SdkHttpMethod method, ObjectName name) {
        return new Call(method,
                "/" + name.bucket() + "/" + SdkHttpUtils.urlEncodeIgnoreSlashes(name.key()),
                Map.of(), Map.of(), null);
    }

    /** Returns the call with an unsigned payload, for a body that is not the token's object. */
    Call unsignedPayload() {
        return header(HASH_HEADER, UNSIGNED);
    }

    boolean isUnsigned() {
        return UNSIGNED.equals(headers.get(HASH_HEADER));
    }

    Call query(String name, String value) {
        return new Call(method, path, with(query, name, value), headers, body);
    }

    Call header(String name, String value) {
        return new Call(method, path, query, with(headers, name, value), body);
    }

    Call body(Body other) {
        return new Call(method, path, query, headers, other);
    }

    private static Map<String, String> with(Map<String, String> map, String name, String value) {
        Map<String, String> copy = new LinkedHashMap<>(map);
        copy.put(name, value);
        return copy;
    }
}
