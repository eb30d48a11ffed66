package io.railhead.client;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;

/** The failure to find credentials, with what a token service answered, in one line. */
final class CredentialFailure {
    private static final String NONE = "no credentials: ";

    private CredentialFailure() {}

    /** @param failure what a provider of credentials threw */
    static IOException of(RuntimeException failure) {
        for (Throwable at = failure; at != null; at = at.getCause()) {
            if (at instanceof AwsServiceException refused) {
                return new IOException(NONE + refusal(refused), failure);
            }
            if (at instanceof NoSuchFileException missing) {
                return new IOException(NONE + "there is no token file " + missing.getFile()
                        + "; see AWS_WEB_IDENTITY_TOKEN_FILE", failure);
            }
            if (at instanceof IOException unanswered) {
                return new IOException(NONE + "the token could not be exchanged: " + unanswered
                        + "; see AWS_ENDPOINT_URL_STS", failure);
            }
        }
        return new IOException(
                "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or --profile",
                failure);
    }

    private static String refusal(AwsServiceException refused) {
        AwsErrorDetails details = refused.awsErrorDetails();
        if (details == null || details.errorCode() == null) {
            return "the token service answered " + refused.statusCode()
                    + "; see AWS_ENDPOINT_URL_STS";
        }
        return "the token was refused: " + details.errorCode() + ": "
                + details.errorMessage() + hint(String.valueOf(details.errorCode()));
    }

    /** Returns what to do about the codes that a gateway has; "" for those that say it. */
    private static String hint(String code) {
        return switch (code) {
            case "ExpiredTokenException" ->
                "; whoever writes AWS_WEB_IDENTITY_TOKEN_FILE must renew it";
            case "InvalidIdentityToken" ->
                "; compare the token's issuer and audience with gateway.web_identity.issuers";
            case "AccessDenied" -> "; compare AWS_ROLE_ARN and the token's claims with the roles"
                    + " of the gateway's credentials file";
            case "IDPCommunicationError", "Throttling" -> "; try again in a minute";
            case "InvalidAction" -> "; AWS_ENDPOINT_URL_STS must name the gateway's S3 port";
            default -> "";
        };
    }
}
