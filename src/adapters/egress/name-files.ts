/**
 * The files that a projection shows its server so that names are asked of the broker. No proxy variables are needed:
 * every address leads to the broker. A program that insists on a proxy finds one at `brokerAddress`, HTTP CONNECT on
 * port 3128 and SOCKS5 on port 1080.
 */

/** Address of the broker's own services, from the block that RFC 2544 keeps out of the internet. */
export const brokerAddress = "198.18.0.1";

/** For `/etc/resolv.conf`. A server that asks any other address gets the same answers. */
export const resolvConfText = `nameserver ${brokerAddress}\noptions timeout:3 attempts:2\n`;

/** For `/etc/hosts`. IPv4 only: a granted `localhost:PORT` of this machine is captured there, and not under `::1`. */
export const hostsText = "127.0.0.1 localhost\n";

/** For `/etc/nsswitch.conf`, without which the GNU C library asks for names before it reads the hosts file. */
export const nsswitchText = "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n";
