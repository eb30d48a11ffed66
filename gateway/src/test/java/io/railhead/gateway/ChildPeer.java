package io.railhead.gateway;

import java.net.URI;

/** A process that reads into its own memory again and again, until somebody kills it. */
final class ChildPeer {
    private static final int BUFFER = 32 << 20;

    private ChildPeer() {}

    public static void main(String[] arguments) {
        TestClient client = new TestClient(URI.create(arguments[0]), "AK", "SK");
        TestPeer peer = new TestPeer(client, "SK", BUFFER);
        for (int round = 0; true; round++) {
            int status = client.get("/held/object", peer.headers(0, BUFFER)).statusCode();
            if (round == 3) {
                System.out.println("reading " + status);
            }
        }
    }
}
