package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class IgnoredProxiesTest {
    @Test
    void variablesCountInAnyCaseAndPropertiesAsTheyAre() {
        assertThat(IgnoredProxies.among(
                List.of("HTTP_PROXY", "https_proxy", "No_Proxy", "PATH", "MY_HTTP_PROXY"),
                List.of("http.proxyHost", "http.proxyhost", "java.home", "socksProxyHost")))
                .containsExactly("-Dhttp.proxyHost", "-DsocksProxyHost", "HTTP_PROXY", "No_Proxy",
                        "https_proxy");
    }
}
