"""
reader.py CLIENT BUCKET SIZE COUNT SECONDS [PROCESSES]: as reader.c, by one of the clients below, each of which answers what it
read.
"""

import concurrent.futures
import json
import multiprocessing
import os
import sys
import time

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]
REGION = "us-east-1"
END = 8


def railhead(bucket, names, size):
    import railhead as package

    client = package.Client(fabric="loopback")
    buffers = [client.empty(size) for _ in names]
    reads = [(f"s3://{bucket}/{name}", buffer) for name, buffer in zip(names, buffers)]

    def read_all():
        client.get_many(reads)
        return buffers
    return read_all


def railhead_safetensors(bucket, names, _):
    """Each time into new memory, which is made tensors."""
    import railhead as package
    import railhead.torch

    client = package.Client(fabric="loopback")
    return lambda: [railhead.torch.load_safetensors(f"s3://{bucket}/{name}", client=client, progress=False) for name in names]


def boto3(bucket, names, size):
    import boto3 as package
    import botocore.config

    client = package.client("s3", config=botocore.config.Config(max_pool_connections=len(names), s3={"addressing_style": "path"}))
    threads = concurrent.futures.ThreadPoolExecutor(len(names))
    buffers = [memoryview(bytearray(size)) for _ in names]

    def read(name, buffer):
        body, at = client.get_object(Bucket=bucket, Key=name)["Body"], 0
        while at < size:
            got = body.readinto(buffer[at:])
            assert got > 0
            at += got
        return buffer
    return lambda: list(threads.map(read, names, buffers))


def crt(bucket, names, size):
    """AWS's C client as awscrt has it: parts of 8 MiB, as many at a time as it thinks fit."""
    import awscrt.auth
    import awscrt.http
    import awscrt.io
    import awscrt.s3

    bootstrap = awscrt.io.ClientBootstrap.get_or_create_static_default()
    keys = awscrt.auth.AwsCredentialsProvider.new_static(os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
    client = awscrt.s3.S3Client(bootstrap=bootstrap, region=REGION, tls_mode=awscrt.s3.S3RequestTlsMode.DISABLED, part_size=8 << 20,
                                signing_config=awscrt.s3.create_default_s3_signing_config(region=REGION, credential_provider=keys))
    host = ENDPOINT.removeprefix("http://")
    buffers = [memoryview(bytearray(size)) for _ in names]

    def start(name, buffer):
        def body(chunk, offset, **_):
            buffer[offset:offset + len(chunk)] = chunk
        head = awscrt.http.HttpRequest("GET", f"/{bucket}/{name}", awscrt.http.HttpHeaders([("Host", host)]))
        return client.make_request(type=awscrt.s3.S3RequestType.GET_OBJECT, request=head, on_body=body)

    def read_all():
        for each in [start(name, buffer) for name, buffer in zip(names, buffers)]:
            each.finished_future.result(60)
        return buffers
    return read_all


def mountpoint(bucket, names, size):
    """What s3torchconnector reads by: Mountpoint's client, which is AWS's C client too."""
    from s3torchconnectorclient._mountpoint_s3_client import MountpointS3Client

    client = MountpointS3Client(region=REGION, endpoint=ENDPOINT, force_path_style=True, user_agent_prefix="bench")
    threads = concurrent.futures.ThreadPoolExecutor(len(names))
    buffers = [memoryview(bytearray(size)) for _ in names]

    def read(name, buffer):
        at = 0
        for chunk in client.get_object(bucket, name):
            buffer[at:at + len(chunk)] = chunk
            at += len(chunk)
        assert at == size
        return buffer
    return lambda: list(threads.map(read, names, buffers))


def s3torchconnector(bucket, names, size):
    """Its own readers, one thread for each object as a loader's workers are."""
    from s3torchconnector import S3ClientConfig, S3MapDataset

    config = S3ClientConfig(force_path_style=True)
    objects = S3MapDataset.from_objects([f"s3://{bucket}/{name}" for name in names], region=REGION, endpoint=ENDPOINT,
                                        s3client_config=config)
    threads = concurrent.futures.ThreadPoolExecutor(len(names))
    buffers = [memoryview(bytearray(size)) for _ in names]

    def read(number, buffer):
        reader, at = objects[number], 0
        while at < size:
            got = reader.readinto(buffer[at:])
            assert got > 0
            at += got
        return buffer
    return lambda: list(threads.map(read, range(len(names)), buffers))


def wipe_ends(read):
    for each in read:
        if not isinstance(each, dict):
            each[:END] = each[-END:] = memoryview(bytes(END))


def check_ends(read):
    """Against READER_ENDS, a file of each object's first and last bytes as they were stored."""
    with open(os.environ["READER_ENDS"], "rb") as stored:
        for each in read:
            first, last = stored.read(END), stored.read(END)
            # Tensors, new ones each time: the file's first bytes are its header's length, without which there would be none.
            tail = each["layer.31"].numpy()[-END // 2:] if isinstance(each, dict) else each[-END:]
            if bytes(tail) != last or not isinstance(each, dict) and bytes(each[:END]) != first:
                raise SystemExit("what was read is not what was stored")


def measured(client, bucket, size, count, seconds, begin):
    read_all = globals()[client](bucket, [f"{size}-{i}" for i in range(count)], size)
    read_all()
    end = time.perf_counter() + seconds / 2
    while time.perf_counter() < end:
        read_all()
    wipe_ends(read_all())
    begin()
    cpu, begun, total, taken = time.process_time(), time.perf_counter(), 0, 0
    while taken < seconds:
        read = read_all()
        total += size * count
        taken = time.perf_counter() - begun
    cpu = time.process_time() - cpu
    check_ends(read)
    return {"bytes": total, "seconds": taken, "cpu": cpu}


def child(results, barrier, *arguments):
    results.put(measured(*arguments, begin=barrier.wait))


def main():
    client, bucket, size, count, seconds, *processes = sys.argv[1:]
    arguments = client, bucket, int(size), int(count), float(seconds)
    if not processes:
        print(json.dumps(measured(*arguments, begin=lambda: None)))
    else:
        spawn = multiprocessing.get_context("spawn")
        results, barrier = spawn.Queue(), spawn.Barrier(int(processes[0]))
        children = [spawn.Process(target=child, args=(results, barrier, *arguments)) for _ in range(int(processes[0]))]
        for each in children:
            each.start()
        done = [results.get(timeout=300) for _ in children]
        for each in children:
            each.join()
        print(json.dumps({"bytes": sum(each["bytes"] for each in done), "cpu": sum(each["cpu"] for each in done),
                          "seconds": max(each["seconds"] for each in done)}))
    sys.stdout.flush()
    # CRT's threads are not waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
