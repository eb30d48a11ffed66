package io.railhead.cli.reading;

import io.railhead.cli.local.LocalStore;
import io.railhead.client.ClientConfig;
import io.railhead.client.Fallback;
import io.railhead.client.ObjectName;
import io.railhead.client.Progress;
import io.railhead.client.RailheadClient;
import io.railhead.client.Via;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/**
 * The store with the objects, its readers' credentials, and the objects' content.
 *
 * @param credentials known to the store; a gateway in front of it gets them too
 */
public record Origin(URI endpoint, String region, AwsCredentials credentials, Manifest manifest) {
    private static final String REGION = "us-east-1";

    /** Returns a local store with a new bucket that holds the files. */
    public static Origin filled(LocalStore store, String bucket, List<SourceFile> files)
            throws IOException {
        AwsCredentials credentials = AwsBasicCredentials.create(store.keys().accessKey(),
                store.keys().secretKey());
        Origin empty = new Origin(store.endpoint(), REGION, credentials,
                new Manifest(bucket, List.of()));
        try (RailheadClient client = RailheadClient.connect(empty.config(store.endpoint()))) {
            client.createBucket(bucket);
        }
        return new Origin(store.endpoint(), REGION, credentials, empty.add(files));
    }

    /** Writes further objects to the bucket, and returns their content. */
    public Manifest add(List<SourceFile> files) throws IOException {
        return add(endpoint, Via.HTTP, files);
    }

    /** @param through the endpoint of the store or a gateway */
    Manifest add(URI through, Via via, List<SourceFile> files) throws IOException {
        List<Manifest.Entry> entries = new ArrayList<>();
        try (RailheadClient client = RailheadClient.connect(
                config(through).with(via).with(Fallback.NONE).withStreams(2))) {
            for (SourceFile file : files) {
                entries.add(Manifest.entry(file.key(), file.file()));
                client.put(file.file(), new ObjectName(manifest.bucket(), file.key()),
                        Progress.NONE);
            }
        }
        return new Manifest(manifest.bucket(), entries);
    }

    /** Returns the configuration of a client in this process. */
    public ClientConfig config(URI other) {
        return ClientConfig.of(other, region, StaticCredentialsProvider.create(credentials));
    }

    /** Returns the same objects with another key. */
    public Origin readBy(AwsCredentials other) {
        return new Origin(endpoint, region, other, manifest);
    }

    /** Returns the environment of a client process: an empty token overrides an inherited one. */
    public Map<String, String> environment() {
        return Map.of("AWS_ACCESS_KEY_ID", credentials.accessKeyId(), "AWS_SECRET_ACCESS_KEY",
                credentials.secretAccessKey(), "AWS_SESSION_TOKEN", sessionToken(), "AWS_REGION",
                region);
    }

    /** Returns the key for a gateway's credentials.yaml, as JSON and therefore YAML. */
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
