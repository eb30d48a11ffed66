package io.railhead.cli.doctor;

import io.railhead.cli.doctor.StoreCalls.Answer;

/** A store's judgement of a credential, by its response to a signed request. */
enum CredentialVerdict {
    ACCEPTED,
    /** The signature is valid, but the request is not allowed. */
    NOT_ALLOWED,
    UNKNOWN_KEY,
    WRONG_SECRET,
    EXPIRED,
    SKEWED,
    OTHER_REGION,
    NO_BUCKET,
    /** Another response. */
    ODD;

    /** Returns the verdict of a GET: S3's refusals of one always have a code. */
    static CredentialVerdict ofGet(Answer answer) {
        String type = answer.headers().get("Content-Type");
        boolean isPage = type != null && type.startsWith("text/html");
        boolean isBare = !answer.isSuccess() && answer.code().isEmpty();
        return isPage || isBare ? ODD : of(answer);
    }

    /** Returns the verdict by S3's code, or by the status without a code. */
    static CredentialVerdict of(Answer answer) {
        return switch (answer.code()) {
            case "InvalidAccessKeyId" -> UNKNOWN_KEY;
            case "SignatureDoesNotMatch" -> WRONG_SECRET;
            case "ExpiredToken", "InvalidToken", "TokenRefreshRequired" -> EXPIRED;
            case "RequestTimeTooSkewed" -> SKEWED;
            case "AuthorizationHeaderMalformed", "PermanentRedirect",
                    "IllegalLocationConstraintException" ->
                OTHER_REGION;
            case "NoSuchBucket" -> NO_BUCKET;
            case "AccessDenied", "AllAccessDisabled" -> NOT_ALLOWED;
            default -> switch (answer.status()) {
                case 301 -> OTHER_REGION;
                case 403 -> NOT_ALLOWED;
                case 404 -> NO_BUCKET;
                default -> answer.isSuccess() ? ACCEPTED : ODD;
            };
        };
    }

    /** Returns whether the store knows the signer. */
    boolean isKnown() {
        return this == ACCEPTED || this == NOT_ALLOWED || this == NO_BUCKET;
    }
}
