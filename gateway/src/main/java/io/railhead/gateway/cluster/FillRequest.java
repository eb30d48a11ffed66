package io.railhead.gateway.cluster;

import io.railhead.backend.FetchTurn;
import io.railhead.cache.ObjectVersion;
import io.railhead.gateway.identity.AccessKey;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.object.read.ReadRules;
import io.railhead.gateway.request.S3Request;
import io.railhead.gateway.s3.sigv4.Authentication;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import org.jspecify.annotations.Nullable;

/**
 * One gateway's question to another for bytes of one version, within one run. As JSON it is the
 * body of a POST.
 *
 * <p> The answer is chunked. Each page opens with its length and its CRC32C as the owner has it,
 * big endian. A length of 0 says that no more comes, so the store must be asked:
 *
 * <pre>
 *   +--------+--------+--------------+--------+--------+-----
 *   | length | CRC32C | length bytes | length | CRC32C | ...
 *   +--------+--------+--------------+--------+--------+-----
 *     4 bytes  4
 * </pre>
 *
 * @param versionId the version that the client named; null for the current one
 * @param accessKey the id of the principal's key; null for anonymous
 * @param sessionToken that of a session; null without one
 * @param tenant the principal's, as the asker knows it
 */
record FillRequest(String backend, String bucket, String key, @Nullable String versionId,
        String etag, String heldVersionId, long sizeBytes, long offset, long length,
        @Nullable String accessKey, @Nullable String sessionToken, String tenant,
        FetchTurn.Urgency urgency) {

    FillRequest {
        if (offset < 0 || length <= 0 || offset > sizeBytes - length) {
            throw new IllegalArgumentException("bytes must lie within the object: [" + offset
                    + ", +" + length + ") of " + sizeBytes);
        }
    }

    static FillRequest of(S3Request request, ObjectVersion version, long offset, long length,
            FetchTurn turn) {
        AccessKey key = request.authentication() instanceof Authentication.Known known
                ? known.key()
                : null;
        Secret token = key == null ? null : key.sessionToken();
        return new FillRequest(version.object().backend(), version.object().bucket(),
                version.object().key(), version.object().versionId(), version.etag(),
                version.versionId(), version.sizeBytes(), offset, length,
                key == null ? null : key.id(), token == null ? null : token.reveal(),
                ReadRules.tenant(request), turn.urgency());
    }

    Buffer json() {
        return new JsonObject().put("backend", backend)
                .put("bucket", bucket)
                .put("key", key)
                .put("version_id", versionId)
                .put("etag", etag)
                .put("held_version_id", heldVersionId)
                .put("size", sizeBytes)
                .put("offset", offset)
                .put("length", length)
                .put("access_key", accessKey)
                .put("session_token", sessionToken)
                .put("tenant", tenant)
                .put("urgency", urgency.name())
                .toBuffer();
    }

    /** @throws IllegalArgumentException for bytes that are no question */
    static FillRequest of(Buffer json) {
        try {
            JsonObject from = new JsonObject(json);
            return new FillRequest(text(from, "backend"), text(from, "bucket"), text(from, "key"),
                    from.getString("version_id"), text(from, "etag"),
                    text(from, "held_version_id"), number(from, "size"), number(from, "offset"),
                    number(from, "length"), from.getString("access_key"),
                    from.getString("session_token"), text(from, "tenant"),
                    FetchTurn.Urgency.valueOf(text(from, "urgency")));
        } catch (RuntimeException | LinkageError e) {
            throw new IllegalArgumentException("no question for bytes: " + e.getMessage(), e);
        }
    }

    private static String text(JsonObject from, String name) {
        String text = from.getString(name);
        if (text == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return text;
    }

    private static long number(JsonObject from, String name) {
        Long number = from.getLong(name);
        if (number == null) {
            throw new IllegalArgumentException(name + " is missing");
        }
        return number;
    }

    /** Omits the session's token. */
    @Override
    public String toString() {
        return "FillRequest[" + backend + "/" + bucket + "/" + key + ", " + etag + ", " + offset
                + "+" + length + "]";
    }
}
