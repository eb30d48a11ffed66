package io.railhead.gateway.s3.sigv4;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.railhead.backend.Caller;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.identity.Identity;
import io.railhead.gateway.identity.Secret;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.message.SigningKey;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The signed policy of an upload by an HTML form. It is verified, and signed again if the store
 * knows the principal by another key. The store enforces the policy: its conditions stay unchanged,
 * except those about the signature. See "Browser-Based Uploads Using POST" in the Amazon S3 API
 * reference. Any thread.
 */
public final class PostPolicy {
    /** The form fields of either signature version, in lower case. */
    public static final Set<String> SIGNING = Set.of("policy", "x-amz-algorithm",
            "x-amz-credential", "x-amz-date", "x-amz-signature", "x-amz-security-token",
            "awsaccesskeyid", "signature");

    private final CredentialStore credentials;
    private final boolean sigV2;

    /** @param sigV2 whether version 2 signatures are verified; otherwise they are refused */
    public PostPolicy(CredentialStore credentials, boolean sigV2) {
        this.credentials = credentials;
        this.sigV2 = sigV2;
    }

    /**
     * Returns the signer; null if the form claims no signature. Throws {@code S3Refusal} if the
     * claim does not hold.
     *
     * @param fields by name in lower case
     */
    public @Nullable Identity authenticate(Map<String, String> fields, Instant now) {
        String policy = fields.get("policy");
        String credential = fields.get("x-amz-credential");
        String signature = fields.get("x-amz-signature");
        if (policy != null && credential != null && signature != null) {
            return verified(fields, policy, credential, signature, now);
        }
        String accessKey = fields.get("awsaccesskeyid");
        String older = fields.get("signature");
        return policy != null && accessKey != null && older != null
                ? verifiedOlder(fields, policy, accessKey, older, now)
                : null;
    }

    private Identity verified(Map<String, String> fields, String policy, String credential,
            String signature, Instant now) {
        if (!SignatureInput.ALGORITHM.equals(fields.get("x-amz-algorithm"))) {
            throw Authenticator.unsupportedMechanism();
        }
        SignatureInput.Credential scoped = SignatureInput.Credential.parse(credential,
                SignatureScope.S3, S3Error.INVALID_ARGUMENT);
        Identity identity = identity(scoped.accessKeyId(), fields, now);
        byte[] expected = scoped.scope().keyOf(identity.key().secret()).sign(policy);
        requireEqual(HexFormat.of().formatHex(expected), signature);
        return identity;
    }

    private Identity verifiedOlder(Map<String, String> fields, String policy, String accessKey,
            String signature, Instant now) {
        if (!sigV2) {
            throw Authenticator.unsupportedMechanism();
        }
        Identity identity = identity(accessKey, fields, now);
        requireEqual(Base64.getEncoder()
                .encodeToString(SigV2.hmac(identity.key().secret(), policy)), signature);
        return identity;
    }

    private Identity identity(String accessKey, Map<String, String> fields, Instant now) {
        return Authenticator.requireIdentity(credentials, accessKey,
                fields.get("x-amz-security-token"), now);
    }

    private static void requireEqual(String expected, String signature) {
        if (!MessageDigest.isEqual(expected.getBytes(UTF_8), signature.getBytes(UTF_8))) {
            throw new S3Refusal(S3Error.SIGNATURE_DOES_NOT_MATCH);
        }
    }

    /** Returns the signature fields of a verified policy, signed under another credential. */
    public static Map<String, String> signedAnew(String policy, Caller.Credential caller,
            String region, Instant now) {
        String date = SigningTime.format(now);
        SignatureScope scope = new SignatureScope(date.substring(0, 8), region,
                SignatureScope.S3);
        Map<String, String> fields = new LinkedHashMap<>();
        fields.put("x-amz-algorithm", SignatureInput.ALGORITHM);
        fields.put("x-amz-credential", caller.accessKey() + "/" + scope);
        fields.put("x-amz-date", date);
        if (caller.sessionToken() != null) {
            fields.put("x-amz-security-token", caller.sessionToken());
        }
        String document = Base64.getEncoder()
                .encodeToString(withConditions(policy, fields).getBytes(UTF_8));
        SigningKey key = scope.keyOf(new Secret(caller.secretKey()));
        fields.put("x-amz-signature", HexFormat.of().formatHex(key.sign(document)));
        fields.put("policy", document);
        return fields;
    }

    private static String withConditions(String policy, Map<String, String> signing) {
        try {
            JsonObject document = new JsonObject(
                    new String(Base64.getMimeDecoder().decode(policy.getBytes(ISO_8859_1)), UTF_8));
            JsonArray conditions = new JsonArray();
            for (Object condition : document.getJsonArray("conditions", new JsonArray())) {
                if (!isAboutSigning(condition)) {
                    conditions.add(condition);
                }
            }
            signing.forEach((name, value) -> conditions.add(new JsonObject().put(name, value)));
            return document.put("conditions", conditions).encode();
        } catch (DecodeException | ClassCastException | IllegalArgumentException e) {
            throw new S3Refusal(S3Error.INVALID_POLICY_DOCUMENT,
                    "Invalid Policy: Invalid JSON.");
        }
    }

    /** {@code {"name": value}} or {@code ["eq", "$name", value]}. */
    private static boolean isAboutSigning(Object condition) {
        if (condition instanceof JsonObject exact) {
            return exact.fieldNames().stream().allMatch(PostPolicy::signs);
        }
        return condition instanceof JsonArray operation && operation.size() > 1
                && operation.getValue(1) instanceof String name && name.startsWith("$")
                && signs(name.substring(1));
    }

    private static boolean signs(String name) {
        return SIGNING.contains(name.toLowerCase(Locale.ROOT));
    }
}
