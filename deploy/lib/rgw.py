"""Ceph's gateway over one monitor and one store in memory, from Debian's packages, on loopback and without cephx."""

import shutil
import subprocess
import uuid

import rack

PROGRAMS = "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph"
SECONDS = 120

CONFIG = """[global]
fsid = {fsid}
mon_host = v2:{host}:{mon}/0
public_addr = {host}
cluster_addr = {host}
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
run_dir = {folder}
admin_socket = {folder}/$name.$pid.asok
log_file = {folder}/$name.log
log_to_stderr = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 1000
mon_warn_on_pool_no_redundancy = false
ms_bind_ipv6 = false

[mon.a]
mon_data = {folder}/mon
mon_initial_members = a

[osd.0]
osd_data = {folder}/osd
osd_objectstore = memstore
memstore_device_bytes = 4294967296

[client.rgw]
ms_mon_client_mode = crc
rgw_frontends = beast endpoint={host}:{port} tcp_nodelay=1
rgw_crypt_require_ssl = false
rgw_enable_usage_log = false
rgw_gc_obj_min_wait = 3600
rgw_s3_auth_use_sts = true
rgw_sts_key = abcdefghijklmnop
"""

# The principals that may assume a role: a user by its number, or those of an issuer's tokens. The issuer's address has no scheme.
BY_USER = """{{"Version": "2012-10-17", "Statement": [
  {{"Effect": "Allow", "Principal": {{"AWS": ["arn:aws:iam:::user/user{0}"]}}, "Action": ["sts:AssumeRole"]}}]}}"""
BY_TOKEN = """{{"Version": "2012-10-17", "Statement": [
  {{"Effect": "Allow", "Principal": {{"Federated": ["arn:aws:iam:::oidc-provider/{0}"]}},
    "Action": ["sts:AssumeRoleWithWebIdentity"]}}]}}"""


def start_rgw(processes, key_pairs, tenants=None, roles=None):
    """
    Starts all three, with a user for each key pair, and a role for each of `roles`: by its name, who may assume it, and the
    policy of what it may do. The first user may register issuers. Returns the endpoint, which is that of the token service too.
    """
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        raise rack.CannotStart(f"no {', '.join(missing)}: install ceph-mon ceph-osd radosgw ceph-common")
    folder, fsid = processes.folder / "ceph", str(uuid.uuid4())
    for part in ("mon", "osd"):
        (folder / part).mkdir(parents=True)
    mon, port = rack.free_port(), rack.free_port()
    config = folder / "ceph.conf"
    config.write_text(CONFIG.format(fsid=fsid, host=rack.LOOPBACK, mon=mon, folder=folder, port=port))

    def ask(*command, text=None):
        try:
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=SECONDS, check=False,
                                  input=text)
        except subprocess.TimeoutExpired:
            raise rack.CannotStart(f"{' '.join(map(str, command))}: no answer in {SECONDS} s") from None
        if done.returncode:
            raise rack.CannotStart(f"{' '.join(map(str, command))}:\n{done.stderr}")

    ceph = ["ceph", "-c", config, "--connect-timeout", "60"]
    ask("monmaptool", "--create", "--addv", "a", f"[v2:{rack.LOOPBACK}:{mon}]", "--fsid", fsid, folder / "monmap")
    ask("ceph-mon", "-c", config, "-i", "a", "--mkfs", "--monmap", folder / "monmap")
    processes.start("ceph-mon", ["ceph-mon", "-f", "-c", config, "-i", "a"])
    osd = str(uuid.uuid4())
    ask(*ceph, "osd", "new", osd)
    ask("ceph-osd", "-c", config, "-i", "0", "--mkfs", "--osd-uuid", osd)
    processes.start("ceph-osd", ["ceph-osd", "-f", "-c", config, "-i", "0"])
    gateway = processes.start("store", ["radosgw", "-f", "-c", config, "-n", "client.rgw"])
    endpoint = f"http://{rack.LOOPBACK}:{port}"
    processes.await_answer(gateway, endpoint)
    admin = ["radosgw-admin", "-c", config, "-n", "client.rgw", f"--admin-socket={folder}/admin.asok"]
    for number, (name, (access, secret)) in enumerate(key_pairs.items()):
        tenant = (tenants or {}).get(name, "")
        ask(*admin, "user", "create", f"--uid=user{number}", f"--display-name=user{number}", f"--email=user{number}@example.com",
            f"--access-key={access}", f"--secret-key={secret}", *([f"--tenant={tenant}"] if tenant else []))
    ask(*admin, "caps", "add", "--uid=user0", "--caps=oidc-provider=*")
    for role, (trust, policy) in (roles or {}).items():
        ask(*admin, "role", "create", f"--role-name={role}", "--path=/", f"--assume-role-policy-doc={trust}")
        ask(*admin, "role-policy", "put", f"--role-name={role}", "--policy-name=all", f"--policy-doc={policy}")
    return endpoint
