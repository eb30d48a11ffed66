package io.railhead.cli.reading;

import io.railhead.client.ClientConfig;
import java.net.URI;
import java.util.HashMap;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * The store that holds the objects, who may read them, and what they contain.
 *
 * @param credentials that the store knows; a gateway that is started in front of it is given them,
 *            too
 */
public record Origin(URI endpoint, String region, AwsCredentials credentials, Manifest manifest) {

    /** For a client in this process, of the store or of a gateway. */
    public ClientConfig config(URI other) {
        return ClientConfig.of(other, region, StaticCredentialsProvider.create(credentials));
    }

    /** The same objects, asked for with another key. */
    public Origin readBy(AwsCredentials other) {
        return new Origin(endpoint, region, other, manifest);
    }

    /** For a client process: an empty token is none, whatever this process has inherited. */
    Map<String, String> environment() {
        return Map.of("AWS_ACCESS_KEY_ID", credentials.accessKeyId(), "AWS_SECRET_ACCESS_KEY",
                credentials.secretAccessKey(), "AWS_SESSION_TOKEN", sessionToken(), "AWS_REGION",
                region);
    }

    /** As a gateway's credentials.yaml names them; JSON, and therefore YAML. */
    Map<String, String> key() {
        Map<String, String> key = new HashMap<>();
        key.put("access_key", credentials.accessKeyId());
        key.put("secret_key", credentials.secretAccessKey());
        if (!sessionToken().isEmpty()) {
            key.put("session_token", sessionToken());
        }
        return key;
    }

    private String sessionToken() {
        return credentials instanceof AwsSessionCredentials temporary
                ? temporary.sessionToken()
                : "";
    }
}
