package io.railhead.gateway.sts;

import org.jspecify.annotations.Nullable;

/** The refusal of an STS call, in AWS's codes. The message holds no token and no claim's value. */
final class StsRefusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final Code code;
    private TokenVerifier.@Nullable Verified token;
    private String role = "";

    /** AWS's codes, with their HTTP status. */
    enum Code {
        ACCESS_DENIED("AccessDenied", 403),
        EXPIRED_TOKEN("ExpiredTokenException", 400),
        IDP_COMMUNICATION_ERROR("IDPCommunicationError", 400),
        INVALID_ACTION("InvalidAction", 400),
        INVALID_IDENTITY_TOKEN("InvalidIdentityToken", 400),
        MALFORMED_POLICY_DOCUMENT("MalformedPolicyDocument", 400),
        MISSING_AUTHENTICATION_TOKEN("MissingAuthenticationToken", 403),
        PACKED_POLICY_TOO_LARGE("PackedPolicyTooLarge", 400),
        SIGNATURE("SignatureDoesNotMatch", 403),
        THROTTLING("Throttling", 400),
        VALIDATION_ERROR("ValidationError", 400);

        private final String word;
        private final int status;

        Code(String word, int status) {
            this.word = word;
            this.status = status;
        }

        String word() {
            return word;
        }

        int status() {
            return status;
        }
    }

    StsRefusal(Code code, String message) {
        super(message);
        this.code = code;
    }

    StsRefusal(Code code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** Names the verified token, and the role that it asked for; returns this. */
    StsRefusal about(TokenVerifier.Verified verified, String existingRole) {
        token = verified;
        role = existingRole;
        return this;
    }

    /** Returns the verified token; null if none was. */
    TokenVerifier.@Nullable Verified token() {
        return token;
    }

    /** Returns the role that was asked for; "" if there is none of this name. */
    String role() {
        return role;
    }

    Code code() {
        return code;
    }

    String message() {
        return String.valueOf(getMessage());
    }
}
