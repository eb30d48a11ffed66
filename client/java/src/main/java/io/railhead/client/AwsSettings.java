package io.railhead.client;

import java.net.URI;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileFileSystemSetting;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;

/**
 * The settings that every AWS tool reads: variables first, then the profile. Only the credentials
 * may come from a metadata service; asking one for a region would delay each start off the cloud.
 */
public final class AwsSettings {
    private static final String DEFAULT_REGION = "us-east-1";

    private final Map<String, String> environment;

    public AwsSettings(Map<String, String> environment) {
        this.environment = environment;
    }

    /**
     * What the arguments say, and the environment where they are silent.
     *
     * @throws IllegalArgumentException where no endpoint is named anywhere
     */
    public ClientConfig resolve(@Nullable String endpoint, @Nullable String profile,
            @Nullable String region) {
        String profileName = profile != null
                ? profile
                : ProfileFileSystemSetting.AWS_PROFILE.getStringValueOrThrow();
        String url = endpoint != null
                ? endpoint
                : findEndpoint(profileName).orElseThrow(() -> new IllegalArgumentException(
                        "no endpoint: give --endpoint or set AWS_ENDPOINT_URL"));
        var credentials = DefaultCredentialsProvider.builder().profileName(profileName).build();
        return ClientConfig.of(URI.create(url), region != null ? region : region(profileName),
                credentials);
    }

    private Optional<String> findEndpoint(String profileName) {
        if (Boolean.parseBoolean(environment.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))) {
            return Optional.empty();
        }
        return Optional.ofNullable(environment.get("AWS_ENDPOINT_URL_S3"))
                .or(() -> Optional.ofNullable(environment.get("AWS_ENDPOINT_URL")))
                .or(() -> ProfileFile.defaultProfileFile()
                        .profile(profileName)
                        .flatMap(profile -> profile.property("endpoint_url")));
    }

    private static String region(String profileName) {
        try {
            Region region = new AwsRegionProviderChain(new SystemSettingsRegionProvider(),
                    new AwsProfileRegionProvider(ProfileFile::defaultProfileFile, profileName))
                    .getRegion();
            return region == null ? DEFAULT_REGION : region.id();
        } catch (SdkException e) {
            return DEFAULT_REGION;
        }
    }
}
