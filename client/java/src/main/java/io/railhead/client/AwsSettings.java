package io.railhead.client;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.SdkSystemSetting;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.profiles.Profile;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileFileSystemSetting;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.StsClientBuilder;
import software.amazon.awssdk.services.sts.auth.StsWebIdentityTokenFileCredentialsProvider;

/**
 * The settings that every AWS tool reads: first environment variables, then the profile. Only the
 * credentials may come from a metadata service: asking it for a region would delay each start
 * outside the cloud.
 */
public final class AwsSettings {
    private static final String DEFAULT_REGION = "us-east-1";
    private static final Duration EXCHANGE_TIMEOUT = Duration.ofSeconds(10);

    private final Map<String, String> environment;
    private final Supplier<ProfileFile> profiles;

    public AwsSettings(Map<String, String> environment) {
        this(environment, ProfileFile::defaultProfileFile);
    }

    AwsSettings(Map<String, String> environment, Supplier<ProfileFile> profiles) {
        this.environment = environment;
        this.profiles = profiles;
    }

    /**
     * Returns the arguments' settings, with those of the environment for absent arguments.
     *
     * @throws IllegalArgumentException if no endpoint is named anywhere
     */
    public ClientConfig resolve(@Nullable String endpoint, @Nullable String profile,
            @Nullable String region) {
        String profileName = profile != null
                ? profile
                : ProfileFileSystemSetting.AWS_PROFILE.getStringValueOrThrow();
        Named url = endpoint != null
                ? new Named("endpoint", endpoint)
                : findEndpoint(profileName).orElseThrow(() -> new IllegalArgumentException(
                        "no endpoint: give --endpoint or set AWS_ENDPOINT_URL"));
        String signingRegion = region != null ? region : region(profileName);
        Optional<Path> ca = authorities(profileName);
        RenewedCredentials credentials = new RenewedCredentials(
                () -> webIdentity(signingRegion, ca.orElse(null))
                        .orElseGet(() -> DefaultCredentialsProvider.builder()
                                .profileName(profileName)
                                .build()));
        ClientConfig config = ClientConfig.of(url.uri(), signingRegion, credentials);
        return ca.map(config::trusting).orElse(config);
    }

    /**
     * Returns the provider of the environment's web identity, if there is one. The SDK's own chain
     * exchanges tokens with the JDK's authorities alone, by a proxy if the environment names one,
     * and does not say why an exchange was refused.
     *
     * @param ca null for the JDK's authorities
     */
    private Optional<AwsCredentialsProvider> webIdentity(String region, @Nullable Path ca) {
        Optional<Named> token = variable("AWS_WEB_IDENTITY_TOKEN_FILE");
        Optional<Named> role = variable("AWS_ROLE_ARN");
        if (token.isEmpty() || role.isEmpty() || variable("AWS_ACCESS_KEY_ID").isPresent()
                || SdkSystemSetting.AWS_ACCESS_KEY_ID.getStringValue().isPresent()) {
            return Optional.empty();
        }
        StsClientBuilder sts = StsClient.builder()
                .region(Region.of(region))
                .credentialsProvider(AnonymousCredentialsProvider.create())
                .httpClient(UrlConnectionHttpClient
                        .create(new DirectConnections(EXCHANGE_TIMEOUT, ca)));
        variable("AWS_ENDPOINT_URL_STS").or(() -> variable("AWS_ENDPOINT_URL"))
                .ifPresent(endpoint -> sts.endpointOverride(endpoint.uri()));
        return Optional.of(StsWebIdentityTokenFileCredentialsProvider.builder()
                .stsClient(sts.build())
                .roleArn(role.get().value())
                .roleSessionName(
                        variable("AWS_ROLE_SESSION_NAME").map(Named::value).orElse("railhead"))
                .webIdentityTokenFile(Path.of(token.get().value()))
                .build());
    }

    /** A setting's value, and the setting's name for errors. */
    private record Named(String source, String value) {

        URI uri() {
            if (value.isEmpty()) {
                throw new IllegalArgumentException(source + " is empty");
            }
            if (!value.contains("://")) {
                throw new IllegalArgumentException(
                        source + " has no scheme: " + value + "; write http://" + value);
            }
            try {
                return new URI(value);
            } catch (URISyntaxException e) {
                throw new IllegalArgumentException(source + " is no address: " + value, e);
            }
        }
    }

    private Optional<Named> findEndpoint(String profileName) {
        if (Boolean.parseBoolean(environment.get("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))) {
            return Optional.empty();
        }
        ProfileFile file = profiles.get();
        Optional<Profile> profile = file.profile(profileName);
        return variable("AWS_ENDPOINT_URL_S3").or(() -> variable("AWS_ENDPOINT_URL"))
                .or(() -> profile.flatMap(named -> named.property("services"))
                        .flatMap(services -> file.getSection("services", services))
                        .flatMap(services -> services.property("s3.endpoint_url"))
                        .map(url -> new Named("endpoint_url of s3 in the services section", url)))
                .or(() -> profile.flatMap(named -> named.property("endpoint_url"))
                        .map(url -> new Named("endpoint_url of profile " + profileName, url)));
    }

    private Optional<Named> variable(String name) {
        return Optional.ofNullable(environment.get(name))
                .filter(value -> !value.isEmpty())
                .map(value -> new Named(name, value));
    }

    private Optional<Path> authorities(String profileName) {
        return variable("AWS_CA_BUNDLE").map(Named::value)
                .or(() -> profiles.get()
                        .profile(profileName)
                        .flatMap(profile -> profile.property("ca_bundle")))
                .map(Path::of);
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
