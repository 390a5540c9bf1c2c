{
  description = "Debriefs AI coding agents when they stop";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      forAllSystems = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      manifest = (builtins.fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in
    {
      packages = forAllSystems (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "checkpointd";
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          buildType = "dist";
          cargoBuildFlags = [ "--all-features" "--package" "checkpointd" "--package" "checkpointd-fleet" ];
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # The tests run real agents' hooks, tmux, and strace; CI runs them.
          doCheck = false;
          postInstall = ''
            $out/bin/checkpointd completions --man man
            installManPage man/*.1
            for shell in bash zsh fish; do
              $out/bin/checkpointd completions $shell > checkpointd.$shell
            done
            installShellCompletion checkpointd.{bash,zsh,fish}
          '';
          meta = {
            inherit (manifest) description;
            homepage = manifest.repository;
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "checkpointd";
          };
        };
      });

      devShells = forAllSystems (pkgs: {
        default = pkgs.mkShell {
          packages = with pkgs; [ cargo clippy git just rustc rustfmt strace tmux ];
        };
      });
    };
}
