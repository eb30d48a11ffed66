package io.railhead.gateway.s3.sigv4;

import io.railhead.backend.Headers;
import io.railhead.gateway.s3.S3Error;
import io.railhead.gateway.s3.S3Refusal;
import io.railhead.protocol.token.Hex;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Reads the signature fields from {@code Authorization: AWS4-HMAC-SHA256 Credential=…, …}. */
final class AuthorizationHeader {
    private static final S3Error MALFORMED = S3Error.AUTHORIZATION_HEADER_MALFORMED;

    private @Nullable String credential;
    private @Nullable String signedHeaders;
    private @Nullable String signature;

    private AuthorizationHeader() {}

    static SignatureInput parse(String authorization, Headers headers, String service,
            SignatureMemory memory) {
        SignatureMemory.Signer known = memory.find(authorization);
        if (known != null && known.credential().scope().service().equals(service)) {
            String rest = authorization
                    .substring(authorization.length() - SignatureInput.SIGNATURE_DIGITS);
            if (Hex.isSha256(rest)) {
                return signatureInput(known, rest, headers, memory);
            }
        }
        return parseAnew(authorization, headers, service, memory);
    }

    private static SignatureInput parseAnew(String authorization, Headers headers, String service,
            SignatureMemory memory) {
        requireSigV4(authorization);
        AuthorizationHeader header = new AuthorizationHeader();
        header.readParts(authorization.substring(SignatureInput.ALGORITHM.length()));
        SignatureMemory.Signer signer = header.signer(service);
        String signature = SignatureInput.signature(required(header.signature, "Signature"),
                MALFORMED);
        if (authorization.endsWith("Signature=" + signature)) {
            memory.remember(authorization, signer);
        }
        return signatureInput(signer, signature, headers, memory);
    }

    private static void requireSigV4(String authorization) {
        if (authorization.startsWith(SignatureInput.ALGORITHM + ' ')) {
            return;
        }
        if (authorization.startsWith("AWS4-ECDSA-P256-SHA256")
                || authorization.startsWith("AWS ")) {
            throw Authenticator.unsupportedMechanism();
        }
        if (authorization.startsWith("AWS4-HMAC-")) {
            throw new S3Refusal(MALFORMED);
        }
        throw new S3Refusal(S3Error.INVALID_ARGUMENT, "Unsupported Authorization Type");
    }

    private void readParts(String parts) {
        int start = 0;
        while (start < parts.length()) {
            int comma = parts.indexOf(',', start);
            comma = comma < 0 ? parts.length() : comma;
            readPart(parts.substring(start, comma).strip());
            start = comma + 1;
        }
    }

    private void readPart(String part) {
        int equals = part.indexOf('=');
        String name = equals < 0 ? part : part.substring(0, equals);
        String value = part.substring(equals + 1);
        switch (name) {
            case "Credential" -> credential = once(credential, name, value);
            case "SignedHeaders" -> signedHeaders = once(signedHeaders, name, value);
            case "Signature" -> signature = once(signature, name, value);
            default -> throw malformed("the authorization component \"" + part
                    + "\" is malformed.");
        }
    }

    private static S3Refusal malformed(String detail) {
        return new S3Refusal(MALFORMED, "The authorization header is malformed; " + detail);
    }

    private static String once(@Nullable String before, String name, String value) {
        if (before != null) {
            throw malformed(name + " stands there twice.");
        }
        return value;
    }

    private SignatureMemory.Signer signer(String service) {
        return new SignatureMemory.Signer(
                SignatureInput.Credential.parse(required(credential, "Credential"), service,
                        MALFORMED),
                SignatureInput.signedHeaders(required(signedHeaders, "SignedHeaders"), MALFORMED));
    }

    private static SignatureInput signatureInput(SignatureMemory.Signer signer, String signature,
            Headers headers, SignatureMemory memory) {
        SignatureInput.Credential who = signer.credential();
        String amzDate = headers.get("x-amz-date");
        Instant signedAt = signedAt(amzDate, headers.get("date"));
        String date = amzDate != null ? amzDate : SigningTime.format(signedAt);
        SignatureInput.requireSameDay(who.scope(), date, MALFORMED);
        String token = headers.get("x-amz-security-token");
        return new SignatureInput(who.accessKeyId(), who.scope(), signer.signedHeaders(),
                signature, date, signedAt, -1, token == null ? null : memory.token(token),
                payload(headers), false);
    }

    private static String required(@Nullable String value, String name) {
        if (value == null) {
            throw malformed("missing " + name + ".");
        }
        return value;
    }

    private static Instant signedAt(@Nullable String amzDate, @Nullable String date) {
        Instant signedAt = amzDate != null
                ? SigningTime.parse(amzDate)
                : date == null
                        ? null
                        : date.length() == SigningTime.LENGTH
                                ? SigningTime.parse(date)
                                : SigningTime.parseHttp(date);
        if (signedAt == null) {
            throw new S3Refusal(S3Error.ACCESS_DENIED,
                    "AWS authentication requires a valid Date or x-amz-date header");
        }
        return signedAt;
    }

    private static PayloadSigning payload(Headers headers) {
        String value = headers.get("x-amz-content-sha256");
        if (value == null) {
            throw new S3Refusal(S3Error.INVALID_REQUEST,
                    "Missing required header for this request: x-amz-content-sha256");
        }
        return PayloadSigning.parse(value.strip());
    }
}
