package io.railhead.cli.doctor;

import io.railhead.cli.doctor.StoreCalls.Answer;

/** A store's judgement of a credential, by its response to a signed request. */
enum CredentialVerdict {
    ACCEPTED,
    /** The signature is good, the request is not allowed. */
    NOT_ALLOWED,
    UNKNOWN_KEY,
    WRONG_SECRET,
    EXPIRED,
    SKEWED,
    OTHER_REGION,
    NO_BUCKET,
    /** None of these. */
    ODD;

    /** Of a GET, whose refusals have a code where it is S3 that answers. */
    static CredentialVerdict ofGet(Answer answer) {
        String type = answer.headers().get("Content-Type");
        boolean isPage = type != null && type.startsWith("text/html");
        boolean isBare = !answer.isSuccess() && answer.code().isEmpty();
        return isPage || isBare ? ODD : of(answer);
    }

    /** By the codes of S3, and by the status where an answer has none. */
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

    /** Whether the store knows who signed. */
    boolean isKnown() {
        return this == ACCEPTED || this == NOT_ALLOWED || this == NO_BUCKET;
    }
}
