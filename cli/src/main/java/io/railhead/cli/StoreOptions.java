package io.railhead.cli;

import io.railhead.client.AwsSettings;
import io.railhead.client.ClientConfig;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options for the store and the credentials; AWS_* variables are their defaults. */
public final class StoreOptions {
    @Option(names = "--endpoint", paramLabel = "URL", description = "Gateway or store (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, profile).")
    private @Nullable String endpoint;

    @Option(names = "--profile", paramLabel = "NAME", description = "Profile of the shared AWS files (AWS_PROFILE).")
    private @Nullable String profile;

    @Option(names = "--region", paramLabel = "REGION", description = "Region that requests are signed for (AWS_REGION; us-east-1).")
    private @Nullable String region;

    public ClientConfig resolve() {
        return new AwsSettings(System.getenv()).resolve(endpoint, profile, region);
    }
}
