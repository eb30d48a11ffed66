package io.railhead.backend.aws;

import io.railhead.backend.BackendConfig;
import io.railhead.backend.Caller;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.urlconnection.ProxyConfiguration;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.StsClientBuilder;
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider;
import software.amazon.awssdk.services.sts.auth.StsWebIdentityTokenFileCredentialsProvider;

/**
 * The credentials of callers that a provider has to find: the default provider chain, and roles
 * that are assumed at the store's Security Token Service. Each provider is made once and renews its
 * credentials before they end. Any thread.
 */
final class CallerCredentials implements AutoCloseable {
    private final BackendConfig config;
    private final LongSupplier nanoClock;
    private final ProvidedCredential chain;
    private final Map<Caller.AssumedRole, RoleProvider> roles = new ConcurrentHashMap<>();

    /** A role's credential with the client that renews it. */
    private record RoleProvider(ProvidedCredential credential, StsClient sts)
            implements
                AutoCloseable {

        @Override
        public void close() {
            credential.close();
            sts.close();
        }
    }

    CallerCredentials(BackendConfig config, ProvidedCredential chain, LongSupplier nanoClock) {
        this.config = config;
        this.chain = chain;
        this.nanoClock = nanoClock;
    }

    static CallerCredentials of(BackendConfig config) {
        return new CallerCredentials(config, new ProvidedCredential("the default provider chain",
                defaultChain(), System::nanoTime), System::nanoTime);
    }

    private static AwsCredentialsProvider defaultChain() {
        DirectHttpService.install();
        return DefaultCredentialsProvider.builder().build();
    }

    /** Returns the credential to sign with now; null for callers that need no provider. */
    @Nullable
    CompletionStage<Caller.Credential> find(Caller caller) {
        return switch (caller) {
            case Caller.DefaultChain _ -> chain.now();
            case Caller.AssumedRole role -> roles.computeIfAbsent(role, this::provider)
                    .credential()
                    .now();
            case Caller.Anonymous _,Caller.ClientSigned _,Caller.Credential _ -> null;
        };
    }

    private RoleProvider provider(Caller.AssumedRole role) {
        StsClient sts = client(role);
        Path token = role.tokenFile();
        AwsCredentialsProvider provider = token == null
                ? StsAssumeRoleCredentialsProvider.builder()
                        .stsClient(sts)
                        .refreshRequest(request -> request.roleArn(role.arn())
                                .roleSessionName(role.sessionName())
                                .externalId(role.externalId()))
                        .build()
                : StsWebIdentityTokenFileCredentialsProvider.builder()
                        .stsClient(sts)
                        .roleArn(role.arn())
                        .roleSessionName(role.sessionName())
                        .webIdentityTokenFile(token)
                        .build();
        return new RoleProvider(new ProvidedCredential("role " + role.arn(), provider, nanoClock),
                sts);
    }

    private StsClient client(Caller.AssumedRole role) {
        StsClientBuilder builder = StsClient.builder()
                .region(Region.of(config.region()))
                .httpClient(http())
                .credentialsProvider(source(role));
        URI endpoint = role.sts();
        return (endpoint == null ? builder : builder.endpointOverride(endpoint)).build();
    }

    private static AwsCredentialsProvider source(Caller.AssumedRole role) {
        Caller.Credential source = role.source();
        if (role.tokenFile() != null) {
            return AnonymousCredentialsProvider.create();
        }
        if (source == null) {
            return defaultChain();
        }
        String token = source.sessionToken();
        return StaticCredentialsProvider.create(token == null
                ? AwsBasicCredentials.create(source.accessKey(), source.secretKey())
                : AwsSessionCredentials.create(source.accessKey(), source.secretKey(), token));
    }

    /** The service is where the store is: it has the store's authority and proxy. */
    private SdkHttpClient http() {
        UrlConnectionHttpClient.Builder http = UrlConnectionHttpClient.builder()
                .connectionTimeout(config.connectTimeout())
                .socketTimeout(config.idleTimeout())
                .proxyConfiguration(proxy());
        Path ca = config.ca();
        if (ca != null) {
            http.tlsTrustManagersProvider(PrivateAuthority.read(ca));
        }
        return http.build();
    }

    private ProxyConfiguration proxy() {
        ProxyConfiguration.Builder proxy = ProxyConfiguration.builder()
                .useSystemPropertyValues(false)
                .useEnvironmentVariablesValues(false);
        BackendConfig.Proxy named = config.proxy();
        return named == null
                ? proxy.build()
                : proxy.endpoint(URI.create("http://" + named.host() + ":" + named.port()))
                        .username(named.user())
                        .password(named.password())
                        .build();
    }

    @Override
    public void close() {
        chain.close();
        roles.values().forEach(RoleProvider::close);
    }
}
