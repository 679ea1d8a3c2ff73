// Makes sure WebGPU under Node finds an adapter: does nothing if there is one, else installs Mesa's software Vulkan.
// Dawn loads `libvulkan.so.1` through the dynamic linker; that loader reads the drivers' manifests in
// /usr/share/vulkan/icd.d (or VK_DRIVER_FILES). Dawn refuses lavapipe older than Mesa 24.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const OLDEST_MESA = 24;
const BACKPORTS = '/etc/apt/sources.list.d/ecif-backports.list';
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const PACKAGES = ['mesa-vulkan-drivers', 'libvulkan1'];
const PROBE = `
  const { create } = await import('webgpu');
  const gpu = (globalThis.ecifGpu = create([]));
  const adapter = await gpu.requestAdapter();
  const info = adapter?.info;
  console.log('adapter:' + (info ? info.description || [info.vendor, info.architecture].join(' ') : ''));
`;

const before = probe();
if (before.adapter) {
  console.log(`setup:gpu: ${before.adapter}; nothing to do`);
} else {
  console.log(`setup:gpu: no WebGPU adapter (${before.reason})`);
  try {
    if (before.noBinding) throw new Error('the `webgpu` package cannot be loaded; run `npm ci` first');
    const done = install();
    const after = probe();
    if (!after.adapter) throw new Error(`${done}, and still no adapter (${after.reason})${driverVariables()}`);
    console.log(`setup:gpu: ${done}; now there is ${after.adapter}`);
  } catch (error) {
    giveUp(error.message);
  }
}

/** Asks for an adapter in a child process, so that a crash in a driver is only an answer. */
function probe() {
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', PROBE], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    timeout: 120_000,
  });
  const line = /^adapter:(.*)$/m.exec(child.stdout ?? '');
  if (line?.[1]) return { adapter: line[1] };
  const noBinding = /ERR_MODULE_NOT_FOUND|MODULE_NOT_FOUND|ERR_DLOPEN_FAILED/.test(child.stderr ?? '');
  if (noBinding) return { reason: firstError(child.stderr), noBinding };
  if (line) return { reason: 'Dawn found no usable driver' };
  return { reason: child.signal ? `the probe ended by ${child.signal}` : firstError(child.stderr) };
}

function firstError(text) {
  return /^.*Error.*$/m.exec(text ?? '')?.[0].trim() ?? 'the probe printed nothing';
}

/** Installs Mesa's Vulkan drivers with apt and returns what was done in one phrase; throws where it may not. */
function install() {
  if (process.platform !== 'linux') throw new Error('update the graphics driver of this machine');
  if (!existsSync('/usr/bin/apt-get')) throw new Error('this system has no apt');
  if (process.getuid() !== 0) throw new Error('not root');
  apt('update');
  let added = '';
  let chosen = newestMesa();
  if (!chosen) throw new Error('apt lists no mesa-vulkan-drivers; is this machine offline?');
  if (!isRecent(chosen) && codename() === 'bookworm') {
    const keyring = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
    writeFileSync(BACKPORTS, `deb ${keyring}${debianMirror()} bookworm-backports main\n`);
    added = `added ${BACKPORTS}, `;
    apt('update');
    chosen = newestMesa();
    if (!isRecent(chosen)) rmSync(BACKPORTS);
  }
  if (!isRecent(chosen)) throw new Error(`the newest mesa-vulkan-drivers apt offers is ${chosen.version}`);
  apt('install', '-y', '--no-install-recommends', '-t', chosen.suite, ...PACKAGES);
  return `${added}installed mesa-vulkan-drivers ${chosen.version}`;
}

function apt(...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-q', '-o', 'Dpkg::Use-Pty=0', '-o', 'DPkg::Lock::Timeout=300'];
  console.log(`setup:gpu: apt-get ${args.join(' ')}`);
  const child = spawnSync('apt-get', [...options, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (child.status === 0) return;
  process.stderr.write(child.stdout + child.stderr);
  throw new Error(`apt-get ${args[0]} failed`);
}

/** The newest mesa-vulkan-drivers apt can download; madison prints `package | version | uri suite/component …`. */
function newestMesa() {
  const rows = output('apt-cache', 'madison', 'mesa-vulkan-drivers')
    .split('\n')
    .filter((row) => row.includes('Packages'))
    .map((row) => row.split('|').map((cell) => cell.trim()))
    .map(([, version, source]) => ({ version, suite: source.split(' ')[1].split('/')[0] }));
  return rows.sort((a, b) => major(b) - major(a))[0];
}

function isRecent(mesa) {
  return major(mesa) >= OLDEST_MESA;
}

function major({ version }) {
  return parseInt(version.replace(/^\d+:/, ''), 10);
}

function codename() {
  return /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
}

/** The mirror this machine already takes bookworm from. */
function debianMirror() {
  const rows = output('apt-get', 'indextargets', '--format', '$(RELEASE) $(REPO_URI)', 'Created-By: Packages');
  const mirror = /^bookworm (\S+)$/m.exec(rows)?.[1];
  return mirror?.replace(/\/$/, '') ?? 'http://deb.debian.org/debian';
}

function output(command, ...args) {
  return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function driverVariables() {
  const set = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'VK_LOADER_DRIVERS_DISABLE'].filter((name) => process.env[name]);
  return set.length ? `; ${set.join(', ')} is set and decides which drivers are read: unset it` : '';
}

function giveUp(reason) {
  console.log(`setup:gpu: cannot install a driver: ${reason}
To run on WebGPU under Node, install a Vulkan driver (a real GPU's own, or Mesa ${OLDEST_MESA} or newer):
  Debian 12      echo 'deb http://deb.debian.org/debian bookworm-backports main' | sudo tee ${BACKPORTS}
                 sudo apt-get update && sudo apt-get install -t bookworm-backports ${PACKAGES.join(' ')}
  Debian 13, Ubuntu 24.04 and later
                 sudo apt-get update && sudo apt-get install ${PACKAGES.join(' ')}
  Fedora         sudo dnf install mesa-vulkan-drivers vulkan-loader
  Arch           sudo pacman -S vulkan-swrast vulkan-icd-loader
Without one everything still runs on the CPU device, and tests that need an adapter are skipped.`);
  if (process.env.ECIF_REQUIRE_GPU === '1') process.exitCode = 1;
}
