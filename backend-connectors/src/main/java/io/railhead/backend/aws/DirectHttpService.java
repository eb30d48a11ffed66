package io.railhead.backend.aws;

import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.SdkHttpService;
import software.amazon.awssdk.http.urlconnection.ProxyConfiguration;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;

/**
 * The HTTP client with which the SDK's credential providers call STS, without the proxies that
 * environment and system properties name. The SDK creates it by its name.
 */
public final class DirectHttpService implements SdkHttpService {

    /**
     * Installs this service before the first provider is created: a provider keeps its first
     * client.
     */
    static void install() {
        System.setProperty("software.amazon.awssdk.http.service.impl",
                DirectHttpService.class.getName());
    }

    @Override
    public SdkHttpClient.Builder<?> createHttpClientBuilder() {
        return UrlConnectionHttpClient.builder()
                .proxyConfiguration(ProxyConfiguration.builder()
                        .useSystemPropertyValues(false)
                        .useEnvironmentVariablesValues(false)
                        .build());
    }
}
