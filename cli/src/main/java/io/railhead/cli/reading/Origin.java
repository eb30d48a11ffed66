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
 * The store that holds the objects, who may read them, and what they contain.
 *
 * @param credentials that the store knows; a gateway that is started in front of it is given them,
 *            too
 */
public record Origin(URI endpoint, String region, AwsCredentials credentials, Manifest manifest) {
    private static final String REGION = "us-east-1";

    /** A store of our own, with a new bucket that the files have been written to. */
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

    /** Writes further objects to the bucket, and says what they contain. */
    public Manifest add(List<SourceFile> files) throws IOException {
        return add(endpoint, Via.HTTP, files);
    }

    /**
     * @param through the store's endpoint, or a gateway's
     */
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

    /** For a client in this process, of the store or of a gateway. */
    public ClientConfig config(URI other) {
        return ClientConfig.of(other, region, StaticCredentialsProvider.create(credentials));
    }

    /** The same objects, asked for with another key. */
    public Origin readBy(AwsCredentials other) {
        return new Origin(endpoint, region, other, manifest);
    }

    /** For a client process: an empty token is none, whatever this process has inherited. */
    public Map<String, String> environment() {
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
